// Two PostgreSQL servers that Patroni looks after, with its decisions in etcd, and haproxy in front, which leads to the one
// that Patroni calls the primary. All of it from Debian's packages, on this machine.
import { chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { serverUser } from '../../../test/support/postgres/binaries.ts'
import { freePort, start, type Running } from '../../../test/support/process.ts'
import { until } from '../../../test/support/until.ts'
import { systemProgram } from '../../deploy/tools.ts'
import { isSynchronous, type Cluster } from './pair.ts'

/** In seconds: how long the leader may be silent before another takes over, and how often each looks. */
const PACE = { ttl: 20, loop_wait: 2, retry_timeout: 3 }

export async function startPatroni(): Promise<Cluster> {
  await using opened = new AsyncDisposableStack()
  const programs = {
    etcd: systemProgram('etcd', 'etcd-server'),
    patroni: systemProgram('patroni'),
    haproxy: systemProgram('haproxy'),
    binaries: debianPostgres(),
  }
  const folder = ownFolder(mkdtempSync(join(tmpdir(), 'tollgate-patroni-')))
  opened.defer(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }))
  const etcd = await startEtcd(programs.etcd, join(folder, 'etcd'))
  opened.defer(async () => void (await etcd.running.stop('SIGKILL')))
  const members: Member[] = []
  for (const name of ['first', 'second']) {
    const member = new Member(join(folder, name), {
      ...{ name, etcd: etcd.address, binaries: programs.binaries },
      ...{ port: await freePort(), restPort: await freePort() },
    })
    opened.defer(() => member.lose())
    member.begin(programs.patroni)
    // The first to come becomes the primary.
    await until(() => member.answers(members.length === 0 ? '/primary' : '/replica'))
    members.push(member)
  }
  const port = await freePort()
  const file = join(folder, 'haproxy.cfg')
  writeFileSync(file, proxyText(port, members))
  const proxy = start(programs.haproxy, ['-db', '-f', file])
  opened.defer(async () => void (await proxy.stop('SIGKILL')))
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`
  await until(() => isSynchronous(url).catch(() => false))
  const everything = opened.move()
  return {
    url,
    loseServer: async () => {
      const [first, second] = members
      await first?.lose()
      await until(() => second?.answers('/primary'))
    },
    [Symbol.asyncDispose]: () => everything.disposeAsync(),
  }
}

function debianPostgres(): string {
  const found = /\/usr\/lib\/postgresql\/\d+\/bin/
  const listed = readFileSync('/var/lib/dpkg/status', 'utf8')
  const [, version] = /^Package: postgresql-(\d+)$/m.exec(listed) ?? []
  const folder = `/usr/lib/postgresql/${version}/bin`
  if (!found.test(folder)) throw new Error('install the package postgresql')
  return folder
}

/** Whatever PostgreSQL is to write must belong to its user. */
function ownFolder(folder: string): string {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  if (serverUser) chownSync(folder, serverUser.uid, serverUser.gid)
  return folder
}

async function startEtcd(program: string, folder: string) {
  const [port, peerPort] = [await freePort(), await freePort()]
  const [url, peerUrl] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${peerPort}`]
  const running = start(program, [
    ...['--name', 'drill', '--data-dir', ownFolder(folder)],
    ...['--listen-client-urls', url, '--advertise-client-urls', url],
    ...['--listen-peer-urls', peerUrl, '--initial-advertise-peer-urls', peerUrl],
    ...['--initial-cluster', `drill=${peerUrl}`],
  ])
  await until(async () => (await fetch(`${url}/health`).catch(() => undefined))?.ok === true)
  return { running, address: `127.0.0.1:${port}` }
}

type MemberOptions = Readonly<Record<'name' | 'etcd' | 'binaries', string>> &
  Readonly<Record<'port' | 'restPort', number>>

/** Patroni, and the PostgreSQL that it runs. */
class Member {
  readonly port: number
  readonly restPort: number
  readonly #folder: string
  readonly #file: string
  #patroni: Running | undefined

  constructor(folder: string, options: MemberOptions) {
    this.port = options.port
    this.restPort = options.restPort
    this.#folder = ownFolder(folder)
    this.#file = join(folder, 'patroni.yaml')
    // JSON is YAML, too.
    writeFileSync(this.#file, JSON.stringify(settingsOf(folder, options)))
  }

  begin(program: string): void {
    this.#patroni = start(program, [this.#file], { ...serverUser, cwd: this.#folder })
  }

  /** Patroni says what a server is by the status of its answer. */
  async answers(path: string): Promise<boolean> {
    const answer = await fetch(`http://127.0.0.1:${this.restPort}${path}`).catch(() => undefined)
    return answer?.ok === true
  }

  /** Patroni first: it would start PostgreSQL again. */
  async lose(): Promise<void> {
    const ended = this.#patroni?.stop('SIGKILL')
    try {
      const [pid] = readFileSync(join(this.#folder, 'data', 'postmaster.pid'), 'utf8').split('\n')
      process.kill(Number(pid), 'SIGKILL')
    } catch {
      // It did not run, or runs no more.
    }
    // PostgreSQL writes to the same pipes, so it has ended as well.
    await ended
  }
}

function settingsOf(folder: string, { name, etcd, binaries, port, restPort }: MemberOptions) {
  return {
    scope: 'tollgate',
    name,
    restapi: { listen: `127.0.0.1:${restPort}`, connect_address: `127.0.0.1:${restPort}` },
    etcd3: { host: etcd },
    bootstrap: {
      dcs: {
        ...PACE,
        synchronous_mode: true,
        postgresql: { parameters: { max_connections: 200 } },
      },
      initdb: [{ encoding: 'UTF8' }, 'no-locale', { auth: 'trust' }],
    },
    postgresql: {
      listen: `127.0.0.1:${port}`,
      connect_address: `127.0.0.1:${port}`,
      data_dir: join(folder, 'data'),
      bin_dir: binaries,
      pgpass: join(folder, 'pgpass'),
      pg_hba: ['local', 'host'].flatMap((kind) =>
        ['all', 'replication'].map((what) =>
          [kind, what, 'all', ...(kind === 'host' ? ['127.0.0.1/32'] : []), 'trust'].join(' '),
        ),
      ),
      authentication: {
        superuser: { username: 'postgres' },
        replication: { username: 'replicator' },
      },
      parameters: { unix_socket_directories: dirname(join(folder, 'data')) },
    },
  }
}

/** Asks each Patroni whether its server is the primary. */
function proxyText(port: number, members: readonly Member[]): string {
  const servers = members.map(
    (member, index) =>
      `  server postgres${index + 1} 127.0.0.1:${member.port} check port ${member.restPort}`,
  )
  return `defaults
  mode tcp
  timeout connect 2s
  timeout client 30m
  timeout server 30m
listen primary
  bind 127.0.0.1:${port}
  option httpchk
  http-check send meth OPTIONS uri /primary
  http-check expect status 200
  default-server inter 1s fall 2 rise 1 on-marked-down shutdown-sessions
${servers.join('\n')}
`
}
