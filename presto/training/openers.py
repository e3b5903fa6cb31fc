"""First words from which the target goes on to write a user's request: maths, code, chat, writing,
knowledge.

An opener is a shape, never a prompt of a data set: what follows it is the target's own.
"""

_GENERAL = (
    "A|An|The|In|If|I|My|You are|Can you|Could you|Please|How|How do I|What|What is|What "
    "are|Why|When|Who|Which|Where"
    "|Is|Are|Do|Does|Should|Tell me|Write|Write a|Write a story about|Write an email|Write a "
    "poem|Compose a|Draft a"
    "|Create a|Explain|Explain how|Describe|Summarize|Compare|Discuss|List|Give me|Suggest|Help "
    "me|Imagine|Pretend"
    "|Act as|Suppose|Consider|Given|Extract|Classify|Identify|Rewrite"
)
_CHAT = (
    "Imagine you are|Pretend to be|Take on the role of|As a|Plan a|Design a|Develop "
    "a|Provide|Analyze|Evaluate the"
    "|What are some|What would happen if|Why does|How can I|How does|Which of the following|Could "
    "you explain"
    "|Can you tell me|Write a short|Write a letter to|Write a blog post about|Write a "
    "persuasive|Write a review of"
    "|Edit the following|Correct the grammar of|Translate|Summarize the following text:|Read the "
    "text below:\n"
    "|Answer the question:|True or false:|Complete the sentence:|Give three|Name "
    "five|Recommend|Describe a vivid"
    "|Explain the difference between|Explain like I am five|Discuss the causes of|The "
    "sky|Photosynthesis|In a world"
    "|Some people|Picture yourself|Here is a|Parents|Yesterday|What was the|Who wrote|Where can I "
    "find"
)
_LANGUAGES = (
    "Bonjour|Comment|Pourquoi|Hola|Cómo|Escribe|Qué es|Wie|Warum ist|Erkläre|Come|Scrivi|Como|O "
    "que é|안녕하세요"
    "|너는|你好|写一|こんにちは|Привет|Translate into French:|How do you say"
)
_MATHS = (
    "Solve|Calculate|Find|Compute|How many|How much|What is the total|A store sells|A farmer|John "
    "has|Maria buys"
    "|Tom and his|Every day,|Each week|There are|A train|A class of|Sam is|Emily baked|On "
    "Monday,|Two friends"
    "|A box contains|Jack earns $|The price of|Half of the|Lisa has|A car travels|A bakery|It "
    "takes|Each|Ben is"
    "|A school|The ratio of|Anna read|Three|A gardener|If a|Peter spends|A "
    "company|Yesterday,|Mrs.|A rectangle"
    "|At the zoo,|Carlos|What is the sum of|Question:|Q:|Mike wants to buy|The sum of|A bag has|A "
    "library"
    "|What percentage of|In a garden,|The perimeter of|A recipe"
)
_CODE = (
    "Write a Python function|Write a function that|Implement|Complete the following code:\n\ndef "
    "|def "
    "|from typing import List\n\n\ndef |Write a program|Fix this code:|```python\ndef |class "
    "|import "
    '|Complete this function:\n\ndef is_|def count_(s: str) -> int:\n    """'
    "|Given a list of numbers,|Return"
    "|\ndef |\n\ndef |from typing import List\n\n\ndef find_|from typing import List, "
    "Tuple\n\n\ndef |def get_|def max_"
    "|def sort_|def remove_|def sum_|def is_|def make_|def reverse_|import math\n\n\ndef |def "
    "check_|def to_|def split_"
    "|from typing import Optional\n\n\ndef |Write a SQL query|Write a JavaScript function|What "
    "does this code do?\n"
    '|def add_(numbers: list) -> list:\n    """ |def has_(text: str) -> bool:\n    """'
    "|How do I sort|What is a pointer"
)
OPENERS: tuple[str, ...] = tuple("|".join((_GENERAL, _CHAT, _LANGUAGES, _MATHS, _CODE)).split("|"))
