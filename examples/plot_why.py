"""
Explaining a prediction
=======================

Every prediction can be explained and drawn: the training sample that conquered the new one, the path from
there to a prototype, and the offers of the other classes. A small lead over the second-best class means that
the answer is doubtful.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pathforest import OPFClassifier
from pathforest.plotting import plot_explanation

wine = load_wine(as_frame=True)
X = wine.data[["alcohol", "flavanoids"]]
y = np.array(["Barolo", "Grignolino", "Barbera"])[wine.target]
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.4, stratify=y, random_state=0)
model = OPFClassifier().fit(X_train, y_train)

# %%
# As a table, which a notebook shows by itself: the class with its cost and the class that came second, the
# path from the conqueror to its prototype, and the sample beside its conqueror and the best of the rival.

explanations = model.explain(X_test)
farthest = np.argmax([len(reason.path) for reason in explanations])
doubtful = np.argmin(model.predict_proba(X_test).max(axis=1))
print(explanations[farthest], explanations[doubtful], sep="\n\n")

# %%
# As pictures: the test sample with the longest path, and the most doubtful one. The number next to the star
# is the winning offer; the numbers along the path are the costs of its samples.

fig, axes = plt.subplots(1, 2, figsize=(12, 4.8), layout="constrained")
plot_explanation(model, X_test.iloc[[farthest]], ax=axes[0], legend=False)
plot_explanation(model, X_test.iloc[[doubtful]], ax=axes[1])
plt.show()

# %%
# With more features there is no plane to look at. Bars then show what each of the most important features
# adds to the distance from the conqueror, and from the best sample of the class that came second.

X_train, X_test, y_train, y_test = train_test_split(wine.data, y, test_size=0.4, stratify=y, random_state=0)
model = make_pipeline(StandardScaler(), OPFClassifier()).fit(X_train, y_train)
plot_explanation(model, X_test[:1])
plt.show()
