"""ETVA: does the video show what each piece of the prompt says? Questions, answers, score."""

from screentest.metrics.etva.categories import Category, read_category
from screentest.metrics.etva.graph import Attribute, Entity, Kind, Relation, SceneGraph
from screentest.metrics.etva.questions import Question, QuestionSet
from screentest.metrics.etva.tokens import Compat, read_answer

__all__ = [
    "Attribute",
    "Category",
    "Compat",
    "Entity",
    "Kind",
    "Question",
    "QuestionSet",
    "Relation",
    "SceneGraph",
    "read_answer",
    "read_category",
]
