// What deploy/ and the Dockerfile say agrees with the product and with each other: ports, paths, variables, settings,
// metrics, times. Needs nothing but this checkout; the programs that read these files are in `npm run deploy:check`.
import assert from 'node:assert/strict'
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { parseAllDocuments, parseDocument } from 'yaml'
import { RENDERED, renderedHeading } from '../../scripts/deploy/chart.ts'
import { loadConfig, type Config } from '../../src/config/load.ts'
import { version } from '../../src/config/version.ts'
import { ERROR_CODES } from '../../src/core/errors.ts'
import { HEALTH_NAMES } from '../../src/routing/breaker.ts'
import { METRICS } from '../../src/telemetry/metrics.ts'

const read = (path: string): string => readFileSync(path, 'utf8')
const usual: Config = loadConfig({ env: {}, folder: '/nowhere' })

const dockerfile = read('Dockerfile')
const unit = read('deploy/systemd/tollgate.service')
const nginx = read('deploy/nginx/tollgate.conf')
const haproxy = read('deploy/haproxy/haproxy.cfg')
const compose = parsed('deploy/compose/compose.yaml')
const chart = parsed('deploy/helm/tollgate/Chart.yaml')
const values = parsed('deploy/helm/tollgate/values.yaml')
const manifests = parseAllDocuments(read(RENDERED)).map((document) => document.toJS() as Tree)
const statefulSet = manifest('StatefulSet')
const pod = at(statefulSet, 'spec', 'template', 'spec')
const container = at(pod, 'containers', 0)

describe('files', () => {
  for (const path of globSync('deploy/**/*.yaml').filter((each) => !each.includes('/templates/')))
    test(`${path} is YAML`, () => {
      for (const { errors, warnings } of parseAllDocuments(read(path)))
        assert.deepEqual([...errors, ...warnings], [])
    })

  test('the manifests are rendered from the chart as it is now', () => {
    assert.ok(
      read(RENDERED).startsWith(renderedHeading()),
      'render them anew: npm run deploy:check -- --write',
    )
  })

  test('chart, compose file and manifests are of this version', () => {
    assert.deepEqual([chart['version'], chart['appVersion']], [version, version])
    assert.equal(at(compose, 'services', 'tollgate', 'image'), `tollgate:${version}`)
    assert.equal(container['image'], `tollgate:${version}`)
  })
})

describe('the product knows what deploy/ names', () => {
  const sources = globSync('{src,bin}/**/*.{ts,mjs}').map(read).join('\n')
  const all = [
    'Dockerfile',
    ...globSync('deploy/**/*.*', { exclude: ['**/*.test.yaml'] }).filter((path) =>
      /\.\w+$/.test(path),
    ),
  ]

  test('every variable', () => {
    const names = new Set(all.flatMap((path) => read(path).match(/\bTOLLGATE_[A-Z]+/g) ?? []))
    assert.ok(names.size > 3)
    assert.deepEqual(
      [...names].filter((name) => !sources.includes(name)),
      [],
    )
  })

  test('every path that is asked for', () => {
    const probes = ['startupProbe', 'livenessProbe', 'readinessProbe'].map((name) =>
      at(container, name, 'httpGet', 'path'),
    )
    assert.deepEqual(probes, ['/healthz', '/healthz', '/readyz'])
    assert.equal(at(manifest('ServiceMonitor'), 'spec', 'endpoints', 0, 'path'), '/metrics')
    assert.match(haproxy, /uri \/readyz /)
    assert.match(dockerfile, /\/healthz`/)
    for (const path of ['/healthz', '/readyz', '/metrics'])
      assert.ok(sources.includes(`'${path}'`), path)
  })

  test('every setting, in the configuration that the manifests have', () => {
    const folder = mkdtempSync(join(tmpdir(), 'tollgate-deploy-'))
    try {
      const text = String(at(manifest('ConfigMap'), 'data', 'tollgate.yaml'))
      writeFileSync(join(folder, 'tollgate.yaml'), text)
      const env = { OPENAI_API_KEY: 'sk-x' }
      const config = loadConfig({ env, folder })
      assert.deepEqual(
        config.providers.map(({ name }) => name),
        ['openai'],
      )
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  test('every metric, label and value of rules and dashboard', () => {
    const rules = read('deploy/prometheus/tollgate.rules.yaml')
    const dashboard = read('deploy/grafana/tollgate.json')
    const queries = [
      ...[...rules.matchAll(/^ +expr: (.*)$/gm)].map(([, query = '']) => query),
      ...[...dashboard.matchAll(/"expr": (".*")/g)].map(
        ([, query = '']) => JSON.parse(query) as string,
      ),
    ]
    assert.ok(queries.length > 30)
    for (const query of queries) {
      const used = query.match(/tollgate_\w+/g) ?? []
      for (const name of used) assert.ok(findMetric(name), `${name} in ${query}`)
      const known = new Set([
        'job',
        'instance',
        'le',
        ...used.flatMap((name) => findMetric(name)?.labels ?? []),
      ])
      for (const label of labelsOf(query)) assert.ok(known.has(label), `${label} in ${query}`)
      for (const [, code = ''] of query.matchAll(/\bcode="(\w+)"/g))
        assert.ok(
          ERROR_CODES.some((each) => each === code),
          code,
        )
      for (const [, names = ''] of query.matchAll(/\bstanding=~?"([\w|]+)"/g))
        for (const name of names.split('|'))
          assert.ok(
            HEALTH_NAMES.some((each) => each === name),
            name,
          )
    }
  })
})

describe('what is said in several files is the same', () => {
  test('the port', () => {
    const port = usual.server.port
    assert.match(dockerfile, new RegExp(`TOLLGATE_PORT=${port}\\n`))
    assert.match(dockerfile, new RegExp(`^EXPOSE ${port}$`, 'm'))
    assert.match(nginx, new RegExp(`server 127\\.0\\.0\\.1:${port} `))
    assert.match(haproxy, new RegExp(`server node1 127\\.0\\.0\\.1:${port}$`, 'm'))
    assert.equal(at(container, 'ports', 0, 'containerPort'), port)
    assert.deepEqual(at(compose, 'services', 'tollgate', 'ports'), [`127.0.0.1:${port}:${port}`])
  })

  test('the user and the volume of the image', () => {
    const [, user] = /^USER (\d+):\1$/m.exec(dockerfile) ?? []
    const [, volume = ''] = /^VOLUME (\S+)$/m.exec(dockerfile) ?? []
    const { runAsUser, runAsGroup, fsGroup } = at(pod, 'securityContext')
    assert.deepEqual(
      [runAsUser, runAsGroup, fsGroup],
      Array.from({ length: 3 }, () => Number(user)),
    )
    assert.match(
      dockerfile,
      new RegExp(`^COPY --chown=${user}:${user} state /var/lib/tollgate$`, 'm'),
    )
    const mounted = at(container, 'volumeMounts', 1, 'mountPath')
    assert.deepEqual(
      [mounted, at(compose, 'services', 'tollgate', 'volumes')],
      [volume, [`spool:${volume}`]],
    )
  })

  test('a root that cannot be written, and no rights', () => {
    assert.partialDeepStrictEqual(container['securityContext'], {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    })
    assert.equal(at(pod, 'securityContext')['runAsNonRoot'], true)
    const service = at(compose, 'services', 'tollgate')
    assert.deepEqual([service['read_only'], service['cap_drop']], [true, ['ALL']])
  })

  test('everyone waits longer for the end of a node than its answers may take', () => {
    const neededSeconds = usual.server.drainMs / 1000 + 20
    const deregister = Number(values['deregisterSeconds'])
    assert.ok(Number(pod['terminationGracePeriodSeconds']) >= neededSeconds + deregister)
    assert.ok(Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)?.[1]) >= neededSeconds)
    const grace = String(at(compose, 'services', 'tollgate')['stop_grace_period'])
    assert.ok(Number.parseInt(grace) >= neededSeconds)
  })

  test('proxies let through the largest request, and close idle connections before Tollgate does', () => {
    const annotations = at(manifest('Ingress'), 'metadata', 'annotations')
    const sizes = [
      /client_max_body_size (\d+)m;/.exec(nginx)?.[1],
      String(annotations['nginx.ingress.kubernetes.io/proxy-body-size']).replace(/m$/, ''),
    ]
    for (const size of sizes)
      assert.ok(Number(size) * 1024 * 1024 >= usual.server.bodyBytesMax, String(size))
    const [, keptSeconds] = /keepAliveTimeout: (\d+)_000/.exec(read('src/edge/server.ts')) ?? []
    assert.ok(Number(/^ {2}keepalive_timeout (\d+)s;$/m.exec(nginx)?.[1]) < Number(keptSeconds))
    assert.ok(Number(/pool-purge-delay (\d+)s/.exec(haproxy)?.[1]) < Number(keptSeconds))
  })

  test('proxies hold back no stream, and wait for half an hour', () => {
    const annotations = at(manifest('Ingress'), 'metadata', 'annotations')
    assert.match(nginx, /proxy_buffering off;/)
    assert.match(nginx, /proxy_read_timeout 30m;/)
    assert.match(haproxy, /timeout server 30m$/m)
    assert.equal(annotations['nginx.ingress.kubernetes.io/proxy-buffering'], 'off')
    assert.equal(annotations['nginx.ingress.kubernetes.io/proxy-read-timeout'], String(30 * 60))
  })
})

type Tree = Record<string, unknown>

function parsed(path: string): Tree {
  return parseDocument(read(path)).toJS() as Tree
}

function manifest(kind: string): Tree {
  const found = manifests.find((each) => each['kind'] === kind)
  assert.ok(found, `the manifests have no ${kind}`)
  return found
}

/** What is inside at this path; a test that looks for something that is not there fails here. */
function at(tree: unknown, ...path: readonly (string | number)[]): Tree {
  return path.reduce<unknown>((inside, step) => {
    const next = (inside as Tree)[step]
    assert.notEqual(next, undefined, `there is no ${path.join('.')}`)
    return next
  }, tree) as Tree
}

/** A histogram has several names. */
function findMetric(name: string) {
  return Object.values(METRICS).find(
    (metric) =>
      metric.name === name ||
      (metric.type === 'histogram' && name.replace(/_(bucket|sum|count)$/, '') === metric.name),
  )
}

/** In selectors and after `by` and `on`. */
function labelsOf(query: string): readonly string[] {
  const selected = [...query.matchAll(/(\w+)(?:=~|!~|!=|=)"/g)].map(([, label = '']) => label)
  const grouped = [...query.matchAll(/\b(?:by|on) \(([^)]*)\)/g)].flatMap(([, names = '']) =>
    names.split(/, */),
  )
  return [...selected, ...grouped].filter((label) => label !== '')
}
