"""First words from which the target goes on to write a user's request: maths, code, chat, writing, knowledge."""

_GENERAL = (
    "A|An|The|In|If|I|My|You are|Can you|Could you|Please|How|How do I|What|What is|What are|Why|When|Who|Which|Where"
    "|Is|Are|Do|Does|Should|Tell me|Write|Write a|Write a story about|Write an email|Write a poem|Compose a|Draft a"
    "|Create a|Explain|Explain how|Describe|Summarize|Compare|Discuss|List|Give me|Suggest|Help me|Imagine|Pretend"
    "|Act as|Suppose|Consider|Given|Extract|Classify|Identify|Rewrite"
)
_MATHS = (
    "Solve|Calculate|Find|Compute|How many|How much|What is the total|A store sells|A farmer|John has|Maria buys"
    "|Tom and his|Every day,|Each week|There are|A train|A class of|Sam is|Emily baked|On Monday,|Two friends"
    "|A box contains|Jack earns $|The price of|Half of the"
)
_CODE = (
    "Write a Python function|Write a function that|Implement|Complete the following code:\n\ndef |def "
    "|from typing import List\n\n\ndef |Write a program|Fix this code:|```python\ndef |class |import "
    '|Complete this function:\n\ndef is_|def count_(s: str) -> int:\n    """|Given a list of numbers,|Return'
)
OPENERS: tuple[str, ...] = tuple("|".join((_GENERAL, _MATHS, _CODE)).split("|"))
