"""Asking a model what an output asks: questions, the frames shown with them, models, a journal, predictions."""
