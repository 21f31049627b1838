"""What provider errors mean: a row for each shape, and rows that only look like one."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trimtab.providers.classify import builtin_rules, classify, load_rules, read_error, read_rules, reclassify
from trimtab.types.errors import ConfigError


def openai(message: str, *, code: str | None = None, kind: str = "invalid_request_error") -> str:
    return json.dumps({"error": {"message": message, "type": kind, "param": None, "code": code}})


def anthropic(message: str, kind: str = "invalid_request_error") -> str:
    return json.dumps({"type": "error", "error": {"type": kind, "message": message}})


def google(message: str, code: int = 400, status: str = "INVALID_ARGUMENT") -> str:
    return json.dumps([{"error": {"code": code, "message": message, "status": status}}])


OPENROUTER = json.dumps(
    {
        "error": {
            "message": "Provider returned error",
            "code": 400,
            "metadata": {
                "raw": json.dumps(
                    {"error": {"message": "This endpoint's maximum context length is 4096 tokens. However, you requested about 5000 tokens (4000 of text input, 500 of tool input, 500 in the output). Please reduce the length."}}
                ),
                "provider_name": "X",
            },
        }
    }
)  # fmt: skip

OVERFLOWS = [
    # (id, status, body, limit, actual)
    ("anthropic", 400, anthropic("prompt is too long: 210000 tokens > 200000 maximum"), 200000, 210000),
    (
        "anthropic sum",
        400,
        anthropic("input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease"),
        200000,
        190000,
    ),
    ("anthropic window", 400, anthropic("input length exceeds context window of this model"), None, None),
    ("anthropic both", 400, anthropic("input and output tokens exceed your context limit"), None, None),
    ("vertex", 413, anthropic("Prompt is too long"), None, None),
    ("anthropic bytes", 413, anthropic("Request exceeds the maximum size", "request_too_large"), None, None),
    ("openai code", 400, openai("Too big.", code="context_length_exceeded"), None, None),
    (
        "openai in stream",
        None,
        openai("Your input exceeds the context window of this model. Please adjust", code="context_length_exceeded"),
        None,
        None,
    ),
    ("openai text", None, openai("Your input exceeds the context window of this model."), None, None),
    (
        "openai family",
        400,
        openai(
            "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens. Please reduce the length of the messages."
        ),
        8192,
        9000,
    ),
    (
        "openai old",
        400,
        openai(
            "This model's maximum context length is 4,097 tokens, however you requested 5,000 tokens (4000 in your prompt; 1000 for the completion)."
        ),
        4097,
        5000,
    ),
    (
        "string too long",
        400,
        openai(
            "Invalid 'messages[0].content': string too long. Expected a string with maximum length 10485760, but got 12000000"
        ),
        None,
        None,
    ),
    (
        "configured",
        400,
        openai("Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300000 tokens."),
        272000,
        300000,
    ),
    ("configured, no numbers", 400, openai("input tokens exceed the configured limit"), None, None),
    ("more than max", 400, openai("tokens in request more than max tokens allowed"), None, None),
    (
        "gemini",
        400,
        google("The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."),
        1048576,
        1200000,
    ),
    (
        "gemini bare",
        400,
        google("The input token count 1200000 exceeds the maximum number of tokens allowed 1048576."),
        1048576,
        1200000,
    ),
    (
        "bedrock",
        400,
        json.dumps({"__type": "ValidationException", "message": "Input is too long for requested model."}),
        None,
        None,
    ),
    ("bedrock 2", 400, '{"message":"The prompt exceeds the maximum number of input tokens"}', None, None),
    ("bedrock 3", 400, '{"message":"max input tokens: 8000"}', None, None),
    ("bedrock 4", 400, '{"message":"Too many total text bytes: 30000000"}', None, None),
    (
        "xai",
        400,
        json.dumps(
            {
                "code": "Client specified an invalid argument",
                "error": "This model's maximum prompt length is 131072 but the request contains 140000 tokens.",
            }
        ),
        131072,
        140000,
    ),
    ("openrouter", 400, OPENROUTER, 4096, 5000),
    (
        "together",
        400,
        openai("The input (9000 tokens) is longer than the model's context length (8192 tokens)."),
        8192,
        9000,
    ),
    (
        "sglang",
        400,
        '{"object":"error","message":"Input length (9000 tokens) exceeds the maximum allowed length (8192 tokens). Use a shorter input","code":400}',
        8192,
        9000,
    ),
    (
        "vllm",
        400,
        openai(
            "This model's maximum context length is 4096 tokens. However, you requested 512 output tokens and your prompt contains at least 4000 input tokens, for a total of at least 4512 tokens."
        ),
        4096,
        4512,
    ),
    (
        "vllm old",
        400,
        '{"object":"error","message":"\'max_tokens\' or \'max_completion_tokens\' is too large: 4096. This model\'s maximum context length is 8192 tokens and your request has 5000 input tokens (4096 > 8192 - 5000).","code":400}',
        8192,
        5000,
    ),
    ("vllm len", 400, openai("The prompt is longer than max_model_len of 4096"), 4096, None),
    (
        "tgi",
        422,
        '{"error":"Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 4000 `inputs` tokens and 512 `max_new_tokens`","error_type":"validation"}',
        4096,
        4000,
    ),
    (
        "llama.cpp",
        400,
        '{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error","n_prompt_tokens":5000,"n_ctx":4096}}',
        4096,
        5000,
    ),
    (
        "llama.cpp new",
        400,
        openai("request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it"),
        4096,
        5000,
    ),
    (
        "llama.cpp 2026, over all three APIs",
        400,
        '{"error":{"code":400,"message":"request (1010 tokens) exceeds the available context size (768 tokens), try increasing it","type":"exceed_context_size_error","n_prompt_tokens":1010,"n_ctx":768}}',
        768,
        1010,
    ),
    (
        "llama.cpp 500",
        500,
        openai(
            "the request exceeds the available context size. try increasing the context size or enable context shift",
            kind="server_error",
        ),
        None,
        None,
    ),
    ("llama.cpp slot", 400, openai("slot context is full"), None, None),
    (
        "lm studio",
        400,
        '{"error":"The number of tokens to keep from the initial prompt is greater than the context length. Try to load the model with a larger context length"}',
        None,
        None,
    ),
    ("lm studio stream", None, '{"error":{"message":"Context size has been exceeded."}}', None, None),
    ("ollama", 400, '{"error":"prompt too long; exceeded max context length by 123 tokens"}', None, None),
    (
        "copilot",
        400,
        openai("prompt token count of 70000 exceeds the limit of 64000", code="model_max_prompt_tokens_exceeded"),
        64000,
        70000,
    ),
    (
        "poolside",
        400,
        openai("Input length 140000 exceeds the maximum allowed input length of 131072 tokens"),
        131072,
        140000,
    ),
    (
        "mistral",
        400,
        '{"object":"error","message":"Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length","type":"invalid_request_prompt","code":"3051"}',
        32768,
        40000,
    ),
    (
        "moonshot",
        400,
        openai("Invalid request: Your request exceeded model token limit: 131072 (requested: 140000)"),
        131072,
        140000,
    ),
    ("zhipu", 400, '{"error":{"code":"1261","message":"Prompt exceeds max length"}}', None, None),
    ("zhipu stream", None, '{"error":{"code":"1261","message":"too big"}}', None, None),
    (
        "qwen",
        400,
        openai("Range of input length should be [1, 98304]", code="invalid_parameter_error"),
        98304,
        None,
    ),
    ("alibaba", 400, openai("The requested input length 99999 exceeds the maximum of 98304"), None, None),
    (
        "xunfei",
        None,
        '{"code":10012,"message":"EngineInternalError:maximum context length is 8192 tokens","sid":"x"}',
        8192,
        None,
    ),
    ("chinese", 400, '{"message":"输入超过最大长度"}', None, None),
    ("chinese 2", 400, '{"message":"输入的上下文长度超出限制"}', None, None),
    ("proxy", 413, "<html><head><title>413 Request Entity Too Large</title></head></html>", None, None),
    ("proxy text", 413, "Payload Too Large", None, None),
    ("proxy silent", 413, "", None, None),
    ("vllm negative", 400, openai("max_tokens must be at least 1, got -500."), None, None),
    ("generic", 400, openai("too many tokens"), None, None),
    ("generic 2", 400, openai("Token limit exceeded"), None, None),
    ("twice nested", 400, json.dumps({"error": json.dumps({"error": json.dumps({"code": "context_length_exceeded"})})}), None, None),
]  # fmt: skip


@pytest.mark.parametrize(
    ("status", "body", "limit", "actual"), [row[1:] for row in OVERFLOWS], ids=[row[0] for row in OVERFLOWS]
)
def test_overflow_shapes_are_recognised_with_their_numbers(status, body, limit, actual):
    info = classify(status, body)
    assert (info.kind, info.limit, info.actual, info.retryable) == ("overflow", limit, actual, False)
    assert "{" not in info.message


NEAR_MISSES = [
    # (id, status, body, class, retryable)
    ("rate limit", 429, openai("maximum context length is 8192 tokens"), "rate_limit", True),
    ("rate limit text", 429, openai("Too many tokens"), "rate_limit", True),
    ("bedrock throttling", 400, '{"__type":"ThrottlingException","message":"Too many tokens, please wait before trying again."}', "rate_limit", True),
    ("bedrock 429", 429, '{"message":"Too many tokens, please wait before trying again."}', "rate_limit", True),
    ("in-stream rate limit", None, openai("Rate limit reached", code="rate_limit_exceeded", kind="tokens"), "rate_limit", True),
    ("openrouter in stream", None, '{"error":{"code":429,"message":"Provider busy"}}', "rate_limit", True),
    ("groq can pass", 413, openai("Rate limit reached for model `x` on tokens per minute (TPM): Limit 6000, Used 5000, Requested 2000", code="rate_limit_exceeded"), "rate_limit", True),
    ("groq never", 413, openai("Request too large for model `x` in organization `o` on tokens per minute (TPM): Limit 6000, Requested 9000, please reduce your message size and try again.", code="rate_limit_exceeded", kind="tokens"), "request_too_large_for_tier", False),
    ("openai never", 429, openai("Request too large for gpt-4 on tokens per min (TPM): Limit 10000, Requested 12000.", code="rate_limit_exceeded"), "request_too_large_for_tier", False),
    ("tier", 429, anthropic("Extra usage is required for long context requests.", "rate_limit_error"), "request_too_large_for_tier", False),
    ("tier 1m", 400, anthropic("The 1M context window requires additional credits"), "request_too_large_for_tier", False),
    ("quota", 429, openai("You exceeded your current quota, please check your plan.", code="insufficient_quota", kind="insufficient_quota"), "quota", False),
    ("gemini minute", 429, json.dumps({"error": {"code": 429, "message": "You exceeded your current quota. Please retry in 34.2s.", "status": "RESOURCE_EXHAUSTED", "details": [{"retryDelay": "34s"}]}}), "rate_limit", True),
    ("credit", 400, anthropic("Your credit balance is too low to access the API."), "quota", False),
    ("payment", 402, "", "quota", False),
    ("output cap", 400, anthropic("max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens for claude"), "output_cap", False),
    ("output cap openai", 400, openai("max_tokens is too large: 100000. This model supports at most 16384 completion tokens, whereas you provided 100000."), "output_cap", False),
    ("output cap gemini", 400, google("Unable to submit request because it has a maxOutputTokens value of 100000 but the supported range is from 1 (inclusive) to 65537 (exclusive)."), "output_cap", False),
    ("output cap deepseek", 400, openai("Invalid max_tokens value, the valid range of max_tokens is [1, 8192]"), "output_cap", False),
    ("output cap qwen", 400, openai("Range of max_tokens should be [1, 8192]"), "output_cap", False),
    ("other field", 400, openai("Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."), "invalid", False),
    ("image side", 400, anthropic("messages.0.content.1.image.source.base64.data: At least one of the image dimensions exceed max allowed size: 8000 pixels"), "media", False),
    ("image many", 400, anthropic("image dimensions exceed max allowed size for many-image requests: 2000 pixels"), "media", False),
    ("image bytes", 400, anthropic("image exceeds 5 MB maximum: 6000000 bytes > 5242880 bytes"), "media", False),
    ("image count", 400, anthropic("too many images: at most 100 images are allowed"), "media", False),
    ("image broken", 400, anthropic("Could not process image"), "media", False),
    ("no vision", 404, openai("No endpoints found that support image input"), "media", False),
    ("no vision llama.cpp", 500, '{"error":{"code":500,"message":"image input is not supported - hint: if this is unexpected, you may need to provide the mmproj","type":"server_error"}}', "media", False),
    ("call that llama.cpp can't read, in stream", None, '{"error":{"code":500,"message":"The model produced output that does not match the expected peg-native format","type":"server_error"}}', "server", True),
    ("history", 400, anthropic("messages.2: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1"), "history", False),
    ("history 2", 400, anthropic("unexpected `tool_use_id` found in `tool_result` blocks: x"), "history", False),
    ("history 3", 400, anthropic("each tool_use must have a single result. Found multiple"), "history", False),
    ("history 4", 400, openai("An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: call_1"), "history", False),
    ("history 5", 400, openai("Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."), "history", False),
    ("history 6", 400, openai("No tool call found for function call output with call_id x."), "history", False),
    ("reasoning", 400, openai("Item 'rs_1' of type 'reasoning' was provided without its required following item."), "reasoning", False),
    ("reasoning 2", 400, anthropic("messages.1.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified."), "reasoning", False),
    ("reasoning 3", 400, anthropic("messages.1.content.0: Invalid `signature` in `thinking` block"), "reasoning", False),
    ("id too long", 400, openai("Invalid 'messages[3].tool_calls[0].id': string too long. Expected a string with maximum length 64, but got a string with length 80 instead."), "ids", False),
    ("call id too long", 400, openai("Invalid 'input[3].call_id': string too long. Expected a string with maximum length 64, but got a string with length 80 instead."), "ids", False),
    ("ids twice", 400, anthropic("messages.1.content: `tool_use` ids must be unique"), "ids", False),
    ("id shape", 400, anthropic("messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"), "ids", False),
    ("id mistral", 400, '{"message":"Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9."}', "ids", False),
    ("another string", 400, openai("Invalid 'tools[0].function.name': string too long. Expected a string with maximum length 64, but got a string with length 80 instead."), "invalid", False),
    ("auth", 401, openai("Incorrect API key provided", code="invalid_api_key"), "auth", False),
    ("auth google", 400, json.dumps({"error": {"code": 400, "message": "API key not valid. Please pass a valid API key.", "details": [{"reason": "API_KEY_INVALID"}]}}), "auth", False),
    ("filter", 400, openai("The response was filtered due to the prompt triggering Azure's content management policy", code="content_filter"), "refused", False),
    ("overloaded", 529, anthropic("Overloaded", "overloaded_error"), "server", True),
    ("overloaded in stream", None, anthropic("Overloaded", "overloaded_error"), "server", True),
    ("stream, unknown", None, '{"error":{"message":"something"}}', "server", True),
    ("stream, invalid", None, openai("bad tool"), "invalid", False),
    ("stream, coded", None, '{"error":{"code":400,"message":"bad tool"}}', "invalid", False),
    ("server, length words", 503, openai("context length exceeded"), "server", True),
    ("server", 500, "oops", "server", True),
    ("conflict", 409, "", "server", True),
    ("not there", 404, openai("The model `x` does not exist"), "invalid", False),
    ("moved", 308, "", "invalid", False),
    ("unknown", 400, openai("temperature must be between 0 and 2"), "invalid", False),
]  # fmt: skip


@pytest.mark.parametrize(
    ("status", "body", "kind", "retryable"), [row[1:] for row in NEAR_MISSES], ids=[row[0] for row in NEAR_MISSES]
)
def test_errors_that_are_no_overflow_keep_their_own_class(status, body, kind, retryable):
    info = classify(status, body)
    assert (info.kind, info.retryable) == (kind, retryable)


def test_a_time_to_come_back_is_never_an_overflow():
    body = openai("maximum context length is 8192 tokens")
    assert classify(400, body).kind == "overflow"
    info = classify(400, body, {"retry-after": "3"})
    assert (info.kind, info.retry_after_s) == ("rate_limit", 3.0)


def test_the_wait_in_a_text_counts_when_no_header_gives_one():
    assert classify(429, openai("Rate limit. Please try again in 1m2.5s.")).retry_after_s == 62.5
    assert classify(429, openai("Rate limit. Please try again in 20ms.")).retry_after_s == 0.02
    assert classify(429, openai("Rate limit. Try again in 9s."), {"retry-after": "0"}).retry_after_s == 0


def test_the_innermost_message_is_shown():
    assert classify(400, OPENROUTER).message.startswith("This endpoint's maximum context length")
    assert classify(500, '{"detail":[{"loc":["body"],"msg":"field required"}]}').message == "field required"
    assert classify(500, b"\xff\xfe broken").message == "\ufffd\ufffd broken"
    assert classify(502, "<html><body><h1>Bad Gateway</h1></body></html>").message == "Bad Gateway"
    assert classify(500, "").message == "the provider answered with status 500 and no text"
    assert len(classify(500, "x" * 10_000).message) < 600


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (400, "registry.ollama.ai/library/gemma:2b does not support tools"),
        (404, "No endpoints found that support tool use. To learn more about provider routing, visit: …"),
        (400, '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'),
        (500, "tools param requires --jinja flag"),
        (400, "tool calling is not supported with this model"),
    ],
)
def test_a_model_without_tools_is_told_as_one(status, words):
    info = classify(status, openai(words))
    assert (info.kind, info.retryable) == ("invalid", False)
    assert "--no-tools" in info.hint


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (400, "openrouter/nope is not a valid model ID"),
        (404, 'model "qwen9" not found, try pulling it first'),
        (404, "The model `gpt-9` does not exist or you do not have access to it."),
        (400, "The model `gpt-9` does not exist"),
    ],
)
def test_a_model_that_there_is_not_is_told_as_one(status, words):
    assert "trimtab models" in classify(status, openai(words)).hint


def test_an_unknown_refusal_says_how_to_add_a_rule():
    info = classify(400, openai("the hamster is full"))
    assert "errors.toml" in info.hint
    assert "errors.toml" not in classify(418, openai("a teapot")).hint
    rules = load_rules('[[rule]]\nclass = "overflow"\nmatch = ["hamster is full"]')
    assert classify(400, openai("the hamster is full"), extra_rules=rules).kind == "overflow"


@pytest.mark.parametrize(
    "text",
    ["[[rule]\n", '[[rule]]\nclass = "huge"', '[[rule]]\nclass = "overflow"\nmatch = ["("]', '[[rule]]\nclass = "auth"\ncodez = []'],
)  # fmt: skip
def test_a_wrong_rule_is_an_error_that_names_its_file(text):
    with pytest.raises(ConfigError, match=r"mine\.toml"):
        load_rules(text, source="mine.toml")


def test_rules_of_a_file_overrule_what_a_wire_made_of_a_stream_error(tmp_path):
    path = tmp_path / "errors.toml"
    assert read_rules(path) == ()
    path.write_text('[[rule]]\nclass = "overflow"\nmatch = ["room for <limit>, got <actual>"]\nhint = "Shrink."')
    made = classify(None, openai("room for 10, got 1,200"))
    assert made.kind == "invalid"
    again = reclassify(made, read_rules(path))
    assert (again.kind, again.limit, again.actual, again.hint) == ("overflow", 10, 1200, "Shrink.")
    assert reclassify(made, ()) == made
    path.write_bytes(b"\xff")
    with pytest.raises(ConfigError, match=r"errors\.toml"):
        read_rules(path)


def test_every_rule_of_the_table_has_a_condition():
    assert all(rule.match or rule.codes or rule.status for rule in builtin_rules())


@given(body=st.one_of(st.binary(), st.text(), st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda s: st.lists(s) | st.dictionaries(st.text(), s), max_leaves=8).map(json.dumps)), status=st.none() | st.integers(300, 599))  # fmt: skip
def test_no_body_makes_the_classifier_raise(body, status):
    assert classify(status, body).message
    read_error(body)
