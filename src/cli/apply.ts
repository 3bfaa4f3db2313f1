// `tollgate apply` and `tollgate export`: groups, keys, alert destinations and the frame as a file that can be kept beside
// the rest of a configuration. A plan is shown first, and made in one transaction.
import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { Option, type Command } from 'commander'
import { isMap, isNode, LineCounter, parseDocument, stringify, type Document } from 'yaml'
import { signingSecret } from '../admin/alerts/sender.ts'
import { AdminError } from '../admin/contract/errors.ts'
import type { Manifest, PlanAnswer, PlanStep } from '../admin/contract/manifest.ts'
import { manifest } from '../admin/contract/manifest.ts'
import { schemaError } from '../admin/http/errors.ts'
import { exportManifest } from '../admin/manifest/form.ts'
import { carryOut, planAnswer, planManifest } from '../admin/manifest/plan.ts'
import { secretOf as serverSecret } from '../config/secret.ts'
import { codeOf } from '../core/errors.ts'
import type { KeyMode } from '../core/limits.ts'
import { newSecret } from '../core/secret.ts'
import type { Store } from '../store/database/store.ts'
import { secretOf } from '../store/keys/secrets.ts'
import { lookAtStore, readConfig, readDatabaseConfig, withStoreOrNew } from './command/context.ts'
import { demand, examples } from './command/options.ts'
import { anywhere, connectionOf, type AdminCall, type RemoteOptions } from './gateway/connection.ts'
import { FailureError, RemoteError, UsageError } from './terminal/failure.ts'
import { printHint, printJson, printNote, printText } from './terminal/output.ts'
import { confirm } from './terminal/progress.ts'

type ApplyOptions = RemoteOptions & {
  readonly file: string
  readonly dryRun?: true
  readonly prune?: true
  readonly yes?: true
  readonly secrets?: string
}

export function addApply(program: Command): void {
  demand(anywhere(program.command('apply')), [
    new Option('-f, --file <file>', 'a manifest: groups, keys, destinations and the frame as YAML'),
  ])
    .description(
      'Bring groups, keys, alert destinations and the frame to what a file says, in one transaction. What the file leaves out stays as it is.',
    )
    .option('--dry-run', 'only show the plan')
    .option('--prune', 'pause keys that apply made and the file no longer has')
    .option('--yes', 'do not ask')
    .option(
      '--secrets <file>',
      'where the secrets of new keys and webhooks are added, a line of JSON each; required when there are any',
    )
    .addHelpText(
      ...examples(
        'tollgate apply -f tollgate-keys.yaml --dry-run',
        'tollgate apply -f tollgate-keys.yaml --prune --yes --secrets new-secrets.jsonl',
      ),
    )
    .action(async (options: ApplyOptions) => {
      const call = connectionOf(options)
      const file = new ManifestFile(options.file)
      const manifest = file.read()
      const on = (target: Target): Promise<void> =>
        apply(target, options).catch((thrown: unknown) => {
          throw file.explain(thrown)
        })
      if (call !== undefined) return on(remoteTarget(call, manifest))
      const config = readConfig(options)
      const opened = options.dryRun ? lookAtStore : withStoreOrNew
      return opened(config, (store) => {
        const signing = (id: string): string => signingSecret(serverSecret(config), id)
        return on(localTarget(store, { manifest, prefix: config.keys.prefix, signing }))
      })
    })
}

/** What a manifest is applied to. */
type Target = {
  plan(prune: boolean): Promise<PlanAnswer>
  /** Exactly this plan, with the secrets of its new keys. */
  apply(plan: PlanAnswer, known: readonly KnownSecret[]): Promise<PlanAnswer>
}

type KnownSecret = ReturnType<typeof secretOf>

type Local = {
  readonly manifest: Manifest
  readonly prefix: string
  /** What signs the webhooks to a destination. */
  readonly signing: (id: string) => string
}

function localTarget(store: Store, { manifest, prefix, signing }: Local): Target {
  let planned: Awaited<ReturnType<typeof planManifest>> | undefined
  const answer = (applied: boolean) => ({ secret_prefix: prefix, applied, signing_secrets: [] })
  return {
    plan: async (prune) => {
      planned = await planManifest(store, { manifest, prune })
      return { ...planAnswer(planned), ...answer(false) }
    },
    apply: async (_, known) => {
      if (planned === undefined) throw new Error('a manifest was applied before it was planned')
      await carryOut(store, planned, known)
      const made = [...planned.webhooks].map(([name, id]) => ({ name, secret: signing(id) }))
      return { ...planAnswer(planned), ...answer(true), signing_secrets: made }
    },
  }
}

/** A plan is known by its digest there: if anything was changed since, it is refused. */
function remoteTarget(call: AdminCall, manifest: Manifest): Target {
  let prune = false
  return {
    plan: (isPruning) => {
      prune = isPruning
      return call('applyManifest', { body: { manifest, prune, dry_run: true } })
    },
    apply: ({ digest }, known) => {
      const secrets = [...known]
      return call('applyManifest', { body: { manifest, prune, digest, secrets } })
    },
  }
}

async function apply(target: Target, options: ApplyOptions): Promise<void> {
  const plan = await target.plan(options.prune === true)
  const made = plan.steps.filter(isNewKey)
  const hasSecrets = made.length > 0 || plan.steps.some(isNewWebhook)
  if (!options.json) printText(planText(plan))
  if (options.dryRun || plan.steps.length === 0) {
    if (options.json) printJson(plan)
    return
  }
  if (hasSecrets && options.secrets === undefined) {
    throw new UsageError(
      'there are new keys or webhooks: name a file for their secrets with --secrets FILE',
    )
  }
  if (!options.yes && !(await confirm('Apply this?'))) {
    throw new FailureError('nothing was changed')
  }
  const secrets = made.map((step) => ({
    name: step.name,
    secret: newSecret(modeOf(step), plan.secret_prefix),
  }))
  // Without new keys as well: the file must be writable before anything is made.
  if (options.secrets !== undefined && hasSecrets) appendSecrets(options.secrets, secrets)
  const done = await target.apply(
    plan,
    secrets.map(({ secret }) => secretOf(secret)),
  )
  const signing = done.signing_secrets.map(({ name, secret }) => ({
    name: `destinations/${name}`,
    secret,
  }))
  if (options.secrets !== undefined && signing.length > 0) keepSigning(options.secrets, signing)
  if (options.json) printJson({ ...done, signing_secrets: undefined })
  else printHint('Applied.')
  if (hasSecrets) printNote(`the new secrets are in ${options.secrets}`)
}

/** The gateway derives them from what it has made, so they cannot be kept beforehand. */
function keepSigning(path: string, secrets: Parameters<typeof appendSecrets>[1]): void {
  try {
    appendSecrets(path, secrets)
  } catch {
    throw new FailureError(
      `everything was applied, but what signs the new webhooks cannot be written to ${path}: remove them, and apply again`,
    )
  }
}

function isNewWebhook({ action, subject, fields }: PlanStep): boolean {
  const isWebhook = fields.some(({ field }) => field === 'webhook')
  return action === 'create' && subject === 'destination' && isWebhook
}

function isNewKey({ action, subject }: PlanStep): boolean {
  return action === 'create' && subject === 'key'
}

function modeOf({ fields }: PlanStep): KeyMode {
  return fields.some(({ field, after }) => field === 'mode' && after === 'test') ? 'test' : 'live'
}

const MARKS = { create: '+', change: '~', pause: '-' } as const

function planText({ steps, unchanged }: PlanAnswer): string {
  const stays = `${counted(unchanged, 'entry', 'entries')} already as the file says`
  if (steps.length === 0) return `Nothing to change: ${stays}.`
  const lines = steps.map((step) => {
    const { action, subject, name, fields } = step
    const title = `${MARKS[action]} ${subject === name ? name : `${subject} ${name}`}`
    if (action === 'pause') return `${title}: pause, as the file no longer has it`
    const changes = fields.map(({ field, before, after }) =>
      action === 'create'
        ? `${field} ${valueText(after)}`
        : `${field} ${valueText(before)} → ${valueText(after)}`,
    )
    return changes.length === 0 ? title : `${title}: ${changes.join(', ')}`
  })
  return `${lines.join('\n')}\n\n${counted(steps.length, 'change', 'changes')}; ${stays}.`
}

function counted(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`
}

function valueText(value: unknown): string {
  if (value === null || value === undefined) return 'none'
  if (Array.isArray(value)) return value.length === 0 ? '[]' : value.map(String).join(',')
  return typeof value === 'string' ? value : JSON.stringify(value)
}

export function addExport(program: Command): void {
  anywhere(program.command('export'))
    .description(
      'Write groups, keys, alert destinations and the frame as a file for `tollgate apply`, without secrets.',
    )
    .addHelpText(...examples('tollgate export > tollgate-keys.yaml'))
    .action(async (options: RemoteOptions) => {
      const call = connectionOf(options)
      const exported =
        call === undefined
          ? await lookAtStore(readDatabaseConfig(options), exportManifest)
          : await call('exportManifest', {})
      if (options.json) printJson(exported)
      else printText(stringify(exported))
    })
}

// The files: YAML whose mistakes are named by their lines, and the one that secrets of new keys go to.

class ManifestFile {
  readonly path: string
  /** As it was read, for sending it on. */
  readonly value: unknown
  readonly #document: Document
  readonly #lines = new LineCounter()

  constructor(path: string) {
    this.path = path
    this.#document = parseDocument(readText(path), {
      lineCounter: this.#lines,
      logLevel: 'error',
    })
    const { errors } = this.#document
    if (errors.length > 0) {
      const told = errors.map(({ message, linePos }) => {
        const what = message.split('\n')[0]?.replace(/ at line \d+.*$/, '') ?? ''
        return `${path}:${linePos?.[0].line ?? 1}: this is not valid YAML: ${what}`
      })
      throw new FailureError(told.join('\n'))
    }
    this.value = valueOf(this.#document, path)
  }

  /** Throws a FailureError that names each mistake by its line. */
  read() {
    const { data, error } = manifest.safeParse(this.value)
    if (data !== undefined) return data
    const issues = (error?.issues ?? []).map((issue) => ({
      instancePath: issue.path.map((step) => `/${String(step)}`).join(''),
      keyword: issue.code,
      message: issue.message,
      params: { ...issue },
    }))
    throw this.explain(schemaError(issues))
  }

  /** The same refusal with the lines of this file; any other is left as it is. */
  explain(thrown: unknown): unknown {
    const problems = problemsIn(thrown)
    if (problems === undefined) return thrown
    const lines = problems.map(({ field, message }) => {
      const place = field.split('.').filter((step) => step !== '' && step !== SENT_AS)
      const at = place.length === 0 ? '' : `${placeText(place)}: `
      return `${this.path}:${this.#lineOf(place)}: ${at}${message}`
    })
    return new FailureError(lines.join('\n'))
  }

  /** Of the innermost part of it that is written. */
  #lineOf(place: readonly string[]): number {
    const steps = place.map((step) => (/^\d+$/.test(step) ? Number(step) : step))
    for (let depth = steps.length; depth > 0; depth--) {
      const start = this.#startOf(steps.slice(0, depth))
      if (start !== undefined) return this.#lines.linePos(start).line
    }
    return 1
  }

  #startOf(steps: readonly (string | number)[]): number | undefined {
    const around =
      steps.length === 1 ? this.#document.contents : this.#document.getIn(steps.slice(0, -1), true)
    const last = steps.at(-1)
    if (isMap(around)) {
      const pair = around.items.find(({ key }) => String(isNode(key) ? key.toJSON() : key) === last)
      return isNode(pair?.key) ? pair.key.range?.[0] : undefined
    }
    const node = this.#document.getIn(steps, true)
    return isNode(node) ? node.range?.[0] : undefined
  }
}

/** The name that a manifest has in a call of the admin API. */
const SENT_AS = 'manifest'

type Problem = { readonly field: string; readonly message: string }

function problemsIn(thrown: unknown): readonly Problem[] | undefined {
  if (thrown instanceof RemoteError) {
    return thrown.code === 'invalid_value' ? thrown.problems : undefined
  }
  if (!(thrown instanceof AdminError) || thrown.code !== 'invalid_value') return undefined
  const { field = '', problems = [{ field, sentence: thrown.sentence }] } = thrown.details
  return problems.map((problem) => ({ field: problem.field, message: problem.sentence.text }))
}

/** `keys[3].budget` */
function placeText(place: readonly string[]): string {
  return place
    .map((step) => (/^\d+$/.test(step) ? `[${step}]` : `.${step}`))
    .join('')
    .replace(/^\./, '')
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new FailureError(`${path} cannot be read (${codeOf(error) ?? 'unreadable'})`)
  }
}

/** An empty file is a manifest that changes nothing. */
function valueOf(document: Document, path: string): unknown {
  try {
    return (document.toJS() as unknown) ?? {}
  } catch (error) {
    if (!(error instanceof ReferenceError)) throw error
    throw new FailureError(`${path} repeats its aliases (*name) too often: write the values out`)
  }
}

/**
 * Adds a line of JSON for each secret, and returns when they are on the disk: all, or none. What is in the file stays: if
 * a run was interrupted before its keys were made, the last line of a name counts.
 */
function appendSecrets(
  path: string,
  secrets: readonly { readonly name: string; readonly secret: string }[],
): void {
  const lines = secrets.map((each) => `${JSON.stringify(each)}\n`).join('')
  const part = `${path}.part`
  try {
    const before = existsSync(path) ? readFileSync(path, 'utf8') : ''
    rmSync(part, { force: true })
    writeFileSync(part, before + lines, { mode: 0o600, flag: 'wx', flush: true })
    renameSync(part, path)
    syncFolder(dirname(path))
  } catch (error) {
    const code = codeOf(error) ?? 'unwritable'
    throw new FailureError(
      `the secrets cannot be written to ${path} (${code}), so nothing was changed`,
    )
  }
}

/** A renamed file is safe only when its folder is, too. */
function syncFolder(folder: string): void {
  const opened = openSync(folder, 'r')
  try {
    fsyncSync(opened)
  } finally {
    closeSync(opened)
  }
}
