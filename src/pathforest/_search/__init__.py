"""The search of FuzzyOPFClassifierCV: many models over shared work, scored, ranked and averaged."""
