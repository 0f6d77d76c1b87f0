"""The engine on a graphics card: PyTorch computes, answers are those of the other engines, bit for bit."""
