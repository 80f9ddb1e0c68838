# Cohere's library, which ranks documents by both versions of its API.

import cohere

import checks as box

CLIENTS = [
    client(api_key="any", base_url=box.URL) for client in (cohere.Client, cohere.ClientV2)
]
QUERY = "How do I pull a model?"


@box.check("chat")
def _():
    for client in CLIENTS:
        results = client.rerank(
            model=box.MODEL, query=QUERY, documents=["one", "two", "three"], top_n=2
        ).results
        box.equals(len(results), 2)
        assert results[0].relevance_score >= results[1].relevance_score


@box.check("overflow")
def _():
    for client in CLIENTS:
        try:
            client.rerank(model=box.MODEL, query=QUERY, documents=[box.LONG])
        except cohere.BadRequestError:
            continue
        raise AssertionError("what does not fit was not refused")
