# Voyage's library, which embeds and ranks.

import voyageai

import checks as box

client = voyageai.Client(api_key="any", base_url=f"{box.URL}/v1")
QUERY = "How do I pull a model?"


@box.check("chat")
def _():
    embedded = client.embed(["one", "two"], model=box.MODEL, output_dimension=16)
    box.equals([len(vector) for vector in embedded.embeddings], [16, 16])
    documents = ["Run `quern pull NAME`.", "The sky is blue.", "Two plus two is four."]
    results = client.rerank(QUERY, documents, model=box.MODEL, top_k=2).results
    box.equals(len(results), 2)
    assert results[0].relevance_score >= results[1].relevance_score
    box.equals(results[0].document, documents[results[0].index])


@box.check("overflow")
def _():
    for refused in (
        lambda: client.rerank(QUERY, [box.LONG], model=box.MODEL, truncation=False),
        lambda: client.embed(["one"], model=box.MODEL, input_type="query"),
    ):
        try:
            refused()
        except voyageai.error.VoyageError as error:
            # It tells the status and the sentence of errors that are not in Voyage's own form.
            assert "400" in str(error), error
            continue
        raise AssertionError("what cannot be was not refused")
