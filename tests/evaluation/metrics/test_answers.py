from decimal import Decimal

import pytest
from stressreel.evaluation.metrics.answers import YES_NO, read_answer

OPTIONS = ("Tom was hungry", "Jerry ran away", "the dog barked", "I fell", "A bell rang")
# Texts between bars, by what they mean; "\n" in them is a line's end.
YES_NO_TEXTS = {
    1: r"""Yes.| YES |y|true|Answer: yes|The answer is yes.|"Yes"|1|1.0|Yes, he opens the door|Yes\nThe person opens it.
Yes it does|true - it is shown|Yes, there is no doubt|<answer>yes</answer>|Yes</s>|Based on the video, yes.""",
    0: r"""No|no.|N|false|0|0.0|No, it was before|no it was before|No – before|No. It’s after|N.|no because it is|_no_
No, it is not true that he does|I think the answer is no.|Assistant: No|No, I don't think so.|no, he can't|“No”
No. I do not see a person opening a door.|<think>Yes? Hmm</think>\nNo|{"answer": "no"}|```json\n{"answer": "no"}\n```
No, that's not true.|No, he cannot open it.|In the video, no.|Output: no""",
    None: r"""|maybe|yes or no|Yes, no|A|(b)|it is yes|nothing|yesterday|N/A|n/a|No answer|No idea|no clue|No comment
No information|Yes. Actually no.|no, or yes it is|yes and no|Yes, that is false|Yes, no he didn't|No. Yes he did|<yes>no
Yes. No he did not open it|No\n\nThe answer is yes|Yes: the correct answer is no|Yes is wrong.|No, I cannot tell.|yes/no
Yes. Actually, the claim is false because|No this cannot be determined|No. The video isn't available.|no way to tell|y/n
No there isn't enough information|Yes would be incorrect.|Yes I'm sorry but I can't|No, I can't see the video
Yes, we do not know|No, we couldn't say|<think>No, at first.</think> It did happen.|No as the video is not given
N. B. unclear|No answer can be given""",
}
OPTION_TEXTS = {
    0: "A|a:|Answer: A|0",
    1: r""" B|b|(b)|B.|b)|B. because he was afraid|Option B|[B]|**B**|1|(1)|1.0|Jerry ran away|jerry ran away.|B</s>
B. Jerry ran away|B\n\nBecause he was afraid|Answer: B\nExplanation: he ran|B - Jerry ran away|Jerry ran away (B)
B, Jerry ran away|(B) Jerry ran|B: A dog chased him|Answer: (b) Jerry ran away.|B) I think he ran.|**B.** Jerry ran away
B.Jerry ran away|B)Jerry ran away|(B)Jerry ran|B (Jerry ran away)|The answer is option B.|I think the answer is B
$\boxed{B}$|<answer>B</answer>|I think it is B|I'd say B|My answer is B|The answer should be B|B is correct because
[[B]]|\text{B}|### Answer\nB|{"answer": "B"}|Ｂ|1. Jerry ran away|<think>\nA: hungry? Then D.</think>\nthe answer is b
maybe A or C</think>B|B. He'd run, e.g. away""",
    3: "I fell",
    4: "A bell rang",
    None: r"""|B. Tom was hungry|F|5|a cat|A or B|A, B|B (Tom was hungry)|B.A dog barked|A.I|e.g. Jerry ran away|A]b
A.\nNo wait, it is b.|a. b. c.|a\nb\nc|A: no, b: yes|Option A\nOption b|A. I'm not sure, I can't see|A) is incorrect
E: I cannot answer this|B is wrong|A. is not the right answer|C. None of the above|<A>B|0. Jerry ran away|A) B) C) D) E)
A. Tom was hungry B. Jerry ran away C. the dog barked|B) or C)|A. or B.|(C) (B)|A. is wrong, the answer is B|b. c)
C: no wait, B|A.I. decided|Jerry ran away (A)|B, perhaps|A (B)|B. it was not that the dog barked|A man ran|I fell down
a - b""",
}
# Longer texts about OPTIONS that state an answer, by that answer.
STATEMENTS = {
    1: r"""The answer is B because he ran.|It is B.|I choose B|assistant\nB|Sure! The answer is B.|B because he ran
He leaves the room, so it cannot be A.\n\nB|Here is the answer:\n```json\n{"answer": "B"}\n```|I'd pick option B
So the final answer is (B).|Looking at the frames, the answer is B: he ran.|Sure! The answer is Jerry ran away.
It ran.\n\boxed{B}|After thinking,\n<answer>B</answer>|Option A shows no food. So the answer is B.|it ran\n(b)
The correct answer is option B, as he ran""",
    None: r"""The answer is not B|Both A and B|The answer is between A and B|I choose A? No, C.|It isn't B
It is B. Actually, it is C.|It could be B
The answer is B. Wait, that's wrong.|I don't think it is B.|The answer is B or C|A\n\nB|It is a
Looking closely, option A, which ran, is wrong.|I say A, but the answer is B|A: the correct answer is B|I choose a
If it rained, the answer is B.|Unless I err, the answer is B|The wrong option is B|It is A man|The answer is A dog
The answer is B. The answer is C.|{"answer": "A"} {"answer": "B"}|It is B. Jerry saw that the dog barked|It is B-roll
A. Tom was hungry\nB. Jerry ran away\nC. the dog barked|The worst answer is B|Everyone says the answer is B, not C""",
}
YES_NO_STATEMENTS = {
    0: r"""I watched.\nThe answer is no because he sits|He stands by the door.\n\nNo|Here: {"answer": "no"}
The correct answer is \boxed{no}|Sure! The answer is no.""",
    None: r"""Yes: the correct answer is no|The answer is not yes|It isn't so. The answer is yes or no""",
}
OTHERS = {  # values that are no texts
    YES_NO: {1: (True, 1, 1.0, Decimal(1)), 0: (False, 0), None: (None, 2, -1, [], 0.5, float("nan"), b"yes")},
    OPTIONS: {1: (1,), 0: (0,), None: (5, -1, None, True, 10**400, "9" * 5000)},
}


@pytest.mark.parametrize(
    ("options", "table"),
    [(YES_NO, YES_NO_TEXTS), (OPTIONS, OPTION_TEXTS), (YES_NO, YES_NO_STATEMENTS), (OPTIONS, STATEMENTS)],
)
def test_answers_in_many_forms(options: tuple[str, ...], table: dict[int | None, str]) -> None:
    for expected, texts in table.items():
        given = [text.replace(r"\n", "\n") for line in texts.split("\n") for text in line.split("|")]
        assert {text: read_answer(text, options) for text in given} == dict.fromkeys(given, expected)
        values = OTHERS[options].get(expected, ())
        assert [read_answer(value, options) for value in values] == [expected] * len(values)


def test_numbers_in_options_are_not_guessed() -> None:
    options, answers = ("2", "3", "1", "0", "4"), ("2", 2, "2.", "(2)", 2.0, "4", 4, 7, "A", "b")
    assert [read_answer(value, options) for value in answers] == [*[None] * 5, 4, 4, None, 0, 1]
    options = ("1 dog", "2 dogs", "3 dogs")
    assert [read_answer(value, options) for value in ("2", 1, "0", "2 dogs", "B")] == [None, None, None, 1, 1]
    assert read_answer("2", options, first=1) == 1
    assert [read_answer(value, OPTIONS, first=1) for value in (1, "5", 0)] == [0, 4, None]
    assert read_answer(1, YES_NO, first=1) == 1
    assert read_answer(8, ("9" * 5000, "8 of them")) is None
    assert read_answer("A. cat, as it wants food", ("cat", "dog", "ant", "cow")) == 0


@pytest.mark.parametrize(
    ("start", "again", "times", "end", "expected"),
    [
        ("<think>", "Is it A? ", 10**6, "</think>B", 1),
        ("B. ", "as it ran. ", 10**5, "", 1),
        ("Jerry ran away", ".", 10**6, "(B)", 1),
        ("B", "\n", 10**6, "because", 1),
        ("B, Jerry ran away", ")", 10**6, "", 1),
        ("", "(A) ", 10**5, "", None),
        ("", '{"answer": ', 10**5, "", None),
        ("", "So the answer is ", 10**5, "B", None),
        ("", "The man is seen. ", 10**5, "The answer is B.", 1),
        ("", "The answer is B.\n", 10**4, "", 1),
        ("", "\n", 10**6, "It is B.", 1),
        ("", "- ", 10**5, "x it is B", None),
        ("it is ", " ", 10**6, "B", 1),
    ],
)
def test_long_answers_take_linear_time(start: str, again: str, times: int, end: str, expected: int | None) -> None:
    assert read_answer(start + again * times + end, OPTIONS) == expected
