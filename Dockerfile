# The image of Tollgate. Its context is what `npm run image` writes (scripts/image): the packed product, the Node that it
# is tested with, and a base of Debian's packages without a shell. Nothing is run while it is built, so an image for one
# kind of processor can be built on another, and the same files give the same image.
ARG BASE=scratch

FROM ${BASE}
# Empty where another image is the base.
ADD base.tar /
COPY node /usr/local/bin/node
COPY tollgate /usr/local/bin/tollgate
# The user of the image, without a name: Kubernetes can see that it is not root.
COPY --chown=65532:65532 state /var/lib/tollgate
COPY product /opt/tollgate

ENV PATH=/usr/local/bin:/usr/bin TOLLGATE_HOST=0.0.0.0 TOLLGATE_PORT=4000
# An optional tollgate.yaml is here, and everything that is written is in the volume: the root may be read-only.
WORKDIR /var/lib/tollgate
VOLUME /var/lib/tollgate/data
USER 65532:65532
EXPOSE 4000
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s \
  CMD ["node", "--eval", "fetch(`http://127.0.0.1:${process.env.TOLLGATE_PORT}/healthz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["tollgate"]
CMD ["serve"]

ARG VERSION
ARG REVISION
ARG CREATED
ARG BASE_NAME
LABEL org.opencontainers.image.title="Tollgate" \
  org.opencontainers.image.description="A model gateway with budgets that hold" \
  org.opencontainers.image.licenses="Apache-2.0" \
  org.opencontainers.image.version="${VERSION}" \
  org.opencontainers.image.revision="${REVISION}" \
  org.opencontainers.image.created="${CREATED}" \
  org.opencontainers.image.base.name="${BASE_NAME}"
