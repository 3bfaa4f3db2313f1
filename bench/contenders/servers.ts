// Starts the upstreams, the bare proxy and a collector of traces.
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { GATEWAY_CORE, LOAD_CORE, start } from '../processes.ts'
import type { Running } from '../processes.ts'
import { findNginx, startNginx } from './nginx.ts'

export type Upstreams = {
  /** For whole answers: nginx if it is installed. */
  readonly whole: Running
  /** For streams, which nginx cannot write event by event. */
  readonly streams: Running
}

const READY = /listening on (\S+)/

export async function startUpstreams(folder: string): Promise<Upstreams> {
  const streams = await start({
    name: 'upstream',
    command: [process.execPath, fileOf('upstream.ts')],
    core: LOAD_CORE,
    logFile: join(folder, 'upstream.log'),
    ready: READY,
  })
  const nginx = findNginx()
  return { whole: nginx === undefined ? streams : await startNginx(folder, nginx), streams }
}

export function startBareProxy(
  folder: string,
  { whole, streams }: Upstreams,
  env: Readonly<Record<string, string>> = {},
): Promise<Running> {
  return start({
    name: 'bare proxy',
    command: [process.execPath, fileOf('bare-proxy.ts')],
    core: GATEWAY_CORE,
    env: { UPSTREAM: whole.url, UPSTREAM_OF_STREAMS: streams.url, ...env },
    logFile: join(folder, 'bare-proxy.log'),
    ready: READY,
  })
}

/** Of traces. */
export function startCollector(folder: string): Promise<Running> {
  return start({
    name: 'collector',
    command: [process.execPath, fileOf('collector.ts')],
    core: LOAD_CORE,
    logFile: join(folder, 'collector.log'),
    ready: READY,
  })
}

function fileOf(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url))
}
