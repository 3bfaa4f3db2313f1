// `npm run deploy:check`: everything in deploy/, each by the program that will read it, and the proxies in front of a
// running gateway. With --write, the manifests are rendered anew. What needs no such program is in
// test/integration/deploy.test.ts and runs with every `npm test`.
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CHART, RENDERED, renderedHeading, VALUES } from './chart.ts'
import { PROXIES, streamThrough } from './proxies.ts'
import { goProgram, runTool, systemProgram } from './tools.ts'

const folder = mkdtempSync(join(tmpdir(), 'tollgate-deploy-'))
const SOUND_VALUES = ['--set', 'databaseUrl=postgres://db/tollgate,secret=long-enough-to-be-taken']
const isWriting = process.argv.includes('--write')

const checks: readonly (readonly [name: string, check: () => void | Promise<void>])[] = [
  ['helm lint', () => void helm('lint', '--strict', '--quiet', ...SOUND_VALUES, CHART)],
  ['helm refuses what would not start', refusesIncomplete],
  ['the manifests are what helm renders', manifests],
  [
    'compose',
    () =>
      void runTool(goProgram('compose'), ['-no-interpolation', 'compose.yaml'], {
        cwd: 'deploy/compose',
      }),
  ],
  ['systemd-analyze', unit],
  ['promtool: rules, their tests, the configuration', prometheus],
  ['promtool: the queries of the dashboard', dashboard],
  ...PROXIES.map(
    (proxy) => [`${proxy.name}: its configuration`, () => configuration(proxy)] as const,
  ),
  ...PROXIES.map(
    (proxy) =>
      [
        `${proxy.name}: words arrive as they are spoken, and 20 MB get through`,
        () => streamThrough(proxy, join(folder, `${proxy.name}-live`)),
      ] as const,
  ),
]

let failed = 0
for (const [name, check] of checks) {
  try {
    await check()
    console.log(`ok   ${name}`)
  } catch (error) {
    failed++
    console.log(`FAIL ${name}\n${error instanceof Error ? error.message : String(error)}`)
  }
}
rmSync(folder, { recursive: true, force: true })
console.log(`\n${checks.length - failed} passed, ${failed} failed`)
process.exit(failed === 0 ? 0 : 1)

function helm(...args: string[]): string {
  return runTool(goProgram('helm'), args)
}

function render(...args: string[]): string {
  const place = ['--namespace', 'tollgate', '--kube-version', '1.31']
  return helm('template', 'tollgate', CHART, ...place, ...args)
}

function refusesIncomplete(): void {
  assert.throws(() => render(), /databaseUrl is required: postgres:/)
  assert.throws(() => render('--set', 'databaseUrl=postgres://db/x'), /secret is required/)
  assert.match(render(...SOUND_VALUES), /TOLLGATE_DATABASE: "postgres:\/\/db\/tollgate"/)
  // One node has nobody to take over, so nothing may keep its machine from being emptied.
  assert.doesNotMatch(render(...SOUND_VALUES, '--set', 'replicas=1'), /PodDisruptionBudget/)
}

function manifests(): void {
  const rendered = `${renderedHeading()}${render('--values', VALUES)}`
  if (isWriting) writeFileSync(RENDERED, rendered)
  assert.equal(
    readFileSync(RENDERED, 'utf8'),
    rendered,
    'npm run deploy:check -- --write renders them anew',
  )
}

/** Its warnings are printed and change no exit code. */
function unit(): void {
  const program = join(folder, 'tollgate')
  writeFileSync(program, '#!/bin/sh\n', { mode: 0o755 })
  const text = readFileSync('deploy/systemd/tollgate.service', 'utf8')
  const file = join(folder, 'tollgate.service')
  writeFileSync(file, text.replace('/usr/local/bin/tollgate', program))
  const analyze = systemProgram('systemd-analyze', 'systemd')
  const warnings = runTool('sh', ['-c', `${analyze} verify ${file} 2>&1`])
  assert.equal(warnings.trim(), '')
  // From 0 (confined) to 100 (not at all): what is left is what a server needs.
  runTool(analyze, ['security', '--offline=true', '--threshold=15', file])
}

function prometheus(): void {
  const promtool = systemProgram('promtool', 'prometheus')
  const here = { cwd: 'deploy/prometheus' }
  runTool(promtool, ['check', 'rules', 'tollgate.rules.yaml'], here)
  runTool(promtool, ['test', 'rules', 'tollgate.rules.test.yaml'], here)
  runTool(promtool, ['check', 'config', '--syntax-only', 'prometheus.yaml'], here)
}

/** As rules, because promtool reads no dashboards. */
function dashboard(): void {
  const text = readFileSync('deploy/grafana/tollgate.json', 'utf8')
  const queries = [...text.matchAll(/"expr": (".*")/g)].map(([, query = '']) =>
    (JSON.parse(query) as string).replaceAll('$__rate_interval', '5m'),
  )
  assert.ok(queries.length > 20)
  const rules = queries.map((expr, index) => ({ record: `query_${index}`, expr }))
  const file = join(folder, 'dashboard.json')
  writeFileSync(file, JSON.stringify({ groups: [{ name: 'dashboard', rules }] }))
  runTool(systemProgram('promtool', 'prometheus'), ['check', 'rules', file])
}

function configuration({ name, prepare }: (typeof PROXIES)[number]): void {
  const ports = { http: 8080, https: 8443, gateway: 4000 }
  runTool(systemProgram(name), prepare(join(folder, name), ports).check)
}
