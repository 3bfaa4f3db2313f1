// The upstream of whole answers if nginx is installed: several times as fast as anything on Node, so that it is never
// the bottleneck. It looks only at the path; streams come from upstream.ts.
import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../../test/support/process.ts'
import { LOAD_CORE, start } from '../processes.ts'
import type { Running } from '../processes.ts'
import { CHAT_ANSWER, EMBEDDING_ANSWER } from './answers.ts'

// Debian installs it in a folder that only root has on the path.
const COMMANDS = ['nginx', '/usr/sbin/nginx']

export function findNginx(): string | undefined {
  return COMMANDS.find((command) => spawnSync(command, ['-v']).status === 0)
}

export async function startNginx(folder: string, command: string): Promise<Running> {
  const prefix = join(folder, 'nginx')
  mkdirSync(prefix, { recursive: true })
  const port = await freePort()
  const configFile = join(prefix, 'nginx.conf')
  writeFileSync(configFile, configOf(port))
  const running = await start({
    name: 'nginx',
    command: [command, '-p', prefix, '-c', configFile, '-e', 'stderr'],
    core: LOAD_CORE,
    logFile: join(prefix, 'log'),
    // nginx listens before it logs the operating system.
    ready: /OS: /,
  })
  return { ...running, url: `http://127.0.0.1:${port}` }
}

function configOf(port: number): string {
  return `
daemon off;
master_process off;
pid nginx.pid;
error_log stderr notice;
events { worker_connections 10000; }
http {
  access_log off;
  client_body_temp_path body;
  proxy_temp_path proxy;
  fastcgi_temp_path fastcgi;
  uwsgi_temp_path uwsgi;
  scgi_temp_path scgi;
  client_max_body_size 100m;
  keepalive_requests 1000000000;
  keepalive_timeout 1h;
  tcp_nodelay on;
  default_type application/json;
  server {
    listen 127.0.0.1:${port} backlog=4096;
    location = /v1/chat/completions { ${answer(CHAT_ANSWER)} }
    location = /v1/embeddings { ${answer(EMBEDDING_ANSWER)} }
  }
}
`
}

/** A token in nginx's configuration holds less than 4,096 bytes: a longer text is split into several variables. */
function answer(text: string): string {
  const parts = text.match(/.{1,4000}/gs) ?? []
  const variables = parts.map((part, index) => `set $part${index} '${part}';`)
  return `${variables.join(' ')} return 200 "${parts.map((_, index) => `\${part${index}}`).join('')}";`
}
