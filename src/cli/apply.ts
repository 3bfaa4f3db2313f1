// `tollgate apply` and `tollgate export`: groups, keys, alert destinations and the frame as a file that can be kept beside
// the rest of a configuration. A plan is shown first, and made in one transaction.
import { Option, type Command } from 'commander'
import { stringify } from 'yaml'
import type { Manifest, PlanAnswer, PlanStep } from '../admin/contract/manifest.ts'
import { signingSecret } from '../admin/alerts/sender.ts'
import { exportManifest } from '../admin/manifest/form.ts'
import { carryOut, planAnswer, planManifest } from '../admin/manifest/plan.ts'
import { secretOf as serverSecret } from '../config/secret.ts'
import type { KeyMode } from '../core/limits.ts'
import { newSecret } from '../core/secret.ts'
import type { Store } from '../store/database/store.ts'
import { secretOf } from '../store/keys/secrets.ts'
import { appendSecrets, ManifestFile } from './apply/manifest-file.ts'
import { lookAtStore, readConfig, readDatabaseConfig, withStoreOrNew } from './command/context.ts'
import { demand } from './command/mistakes.ts'
import { examples } from './command/options.ts'
import { anywhere, connectionOf, type Call, type RemoteOptions } from './gateway/connection.ts'
import { FailureError, UsageError } from './terminal/failure.ts'
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
function remoteTarget(call: Call, manifest: Manifest): Target {
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
