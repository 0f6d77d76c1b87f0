"""The engine on a GPU: PyTorch computes, answers are those of the other engines, bit for bit."""
