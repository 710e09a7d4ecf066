"""Words that have a single part of speech, and the forms of auxiliaries."""

from __future__ import annotations

from .lexicon import words

AUXILIARIES = {
    **dict.fromkeys(("is", "'s", "has", "does"), "VBZ"),
    **dict.fromkeys(("are", "am", "have", "do", "'re", "'ve", "'m"), "VBP"),
    **dict.fromkeys(("was", "were", "had", "did"), "VBD"),
    **dict.fromkeys(
        ("will", "would", "can", "could", "shall", "should", "may", "might", "must", "ca", "wo", "'ll", "cannot"), "MD"
    ),
}
CLOSED = {
    **dict.fromkeys(("a", "an", "the", "this", "these", "those", "each", "every", "another", "some"), "DT"),
    **dict.fromkeys(("i", "you", "he", "she", "it", "we", "they", "me", "him", "us", "them"), "PRP"),
    **dict.fromkeys(("himself", "herself", "itself", "themselves", "themself", "yourself", "myself"), "PRP"),
    **dict.fromkeys(("my", "your", "his", "its", "our", "their"), "PRP$"),
    **dict.fromkeys(("and", "or", "but", "nor"), "CC"),
    **dict.fromkeys(
        ("of", "into", "onto", "with", "from", "at", "towards", "toward", "while", "during", "among"), "IN"
    ),
    **dict.fromkeys(("until", "till", "because", "if", "although", "unless", "whether"), "IN"),
    **dict.fromkeys(("when", "where", "why"), "WRB"),
    **dict.fromkeys(("who", "whom"), "WP"),
    "which": "WDT",
    **dict.fromkeys(("not", "n't"), "RB"),
    "be": "VB",
    "been": "VBN",
    "being": "VBG",
    "to": "TO",
    "ted": "NNP",
    **dict.fromkeys(("ping", "pong"), "NN"),
}
BE = frozenset({"be", "is", "are", "am", "was", "were", "been", "being", "'s", "'re", "'m"})
HAVE = frozenset({"have", "has", "had", "having", "'ve", "'s", "'d"})
DO = frozenset({"do", "does", "did"})
NEGATIONS = frozenset({"not", "n't", "never"})
SUBORDINATORS = words("joining")
FINITE = ("VBZ", "VBP", "VBD", "MD")
PLURAL_SUBJECTS = frozenset(("they", "we", "you", "i", "people", "men", "women", "children", "some", "many", "others"))
