# The server in a container. It listens on all addresses of the container, so publish its port where
# only those can reach it who may, or set QUERN_API_KEY.

FROM denoland/deno:2.9.6 AS build
WORKDIR /quern
COPY . .
RUN deno task compile

FROM debian:13-slim
COPY --from=build /quern/dist/quern /usr/local/bin/quern
ENV OLLAMA_HOST=0.0.0.0 OLLAMA_MODELS=/models
VOLUME /models
EXPOSE 11434
# Docker stops it by SIGTERM, at which running requests still get their time.
ENTRYPOINT ["quern"]
CMD ["serve"]
