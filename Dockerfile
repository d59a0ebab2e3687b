# Callbook as an image: docker build -t callbook .

ARG BUN_VERSION=1.4.5

FROM oven/bun:${BUN_VERSION}-slim AS build
RUN apt-get update && apt-get install -y --no-install-recommends g++ && rm -rf /var/lib/apt/lists/*
WORKDIR /build
COPY package.json bun.lock bunfig.toml ./
# Without postinstall, which needs the sources and forgives failures: what it builds is built below.
RUN bun install --frozen-lockfile --production --omit=peer --ignore-scripts
COPY . ./
# The npm package, with the versions of libSQL and of what it needs that the lockfile names.
RUN bun run build:package && mkdir dist/package/node_modules && cd node_modules && \
  cp -r libsql @libsql @neon-rs detect-libc ../dist/package/node_modules/

# The same image as above, so that the addon meets the libraries it was linked with.
FROM oven/bun:${BUN_VERSION}-slim
RUN install -d -o bun -g bun -m 700 /data && ln -s /app/callbook.js /usr/local/bin/callbook
WORKDIR /app
COPY --from=build /build/dist/package ./
USER bun
ENV HOST=0.0.0.0 DATA_DIR=/data
VOLUME /data
EXPOSE 3000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s \
  CMD ["bun", "-e", "process.exit((await fetch(`http://127.0.0.1:${process.env.PORT || 3000}/ready`)).ok ? 0 : 1)"]
CMD ["callbook"]
