// The dialog of each action on a key.
import { Button, Group, NativeSelect, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type ComponentType, useState } from 'react'
import { keyRoutes } from '../../../../src/admin/contract/keys.ts'
import type { AnswerOf } from '../../../../src/admin/contract/route.ts'
import { usageRoutes } from '../../../../src/admin/contract/usage.ts'
import { OVERLAP_MS_MAX } from '../../../../src/core/limits.ts'
import { DAY_MS } from '../../../../src/core/units.ts'
import { call, newIdempotencyKey } from '../../base/api.ts'
import { useSession } from '../../base/session.ts'
import { useNow } from '../../i18n/format.ts'
import { useTranslation } from '../../i18n/i18n.ts'
import { budgetOf, type Reset, ResetDialog } from '../../parts/budgets.tsx'
import { type TopUp, TopUpDialog } from '../../parts/budgets.tsx'
import { useChange, useFields } from '../../parts/changes.tsx'
import { ConfirmDialog, Dialog, ReasonField } from '../../parts/dialogs.tsx'
import { Choice } from '../../parts/filters.tsx'
import { Notice } from '../../parts/notices.tsx'
import { type KeyAction, useResume } from './key-brief.tsx'
import { type KeyInBrief, madeOldByKey } from './key-words.ts'
import { SecretDialog, TestCall } from './secret-dialog.tsx'

type KeyDialogsProps = {
  readonly action: KeyAction
  readonly keyInBrief: KeyInBrief
  readonly onClose: () => void
  readonly onAction: (action: KeyAction) => void
}

const dialogs = {
  pause: PauseDialog,
  revoke: RevokeDialog,
  rotate: RotateDialog,
  'end-overlap': EndOverlapDialog,
  'top-up': TopUpKeyDialog,
  reset: ResetKeyDialog,
  test: TestDialog,
} satisfies Record<KeyAction, ComponentType<Omit<KeyDialogsProps, 'action'>>>

export function KeyDialogs({ action, ...props }: KeyDialogsProps) {
  const ActionDialog = dialogs[action]
  return <ActionDialog {...props} />
}

type KeyDialogProps = { readonly keyInBrief: KeyInBrief; readonly onClose: () => void }

/** Pauses a key; the toast that confirms it offers to resume. */
function PauseDialog({ keyInBrief: { id, name }, onClose }: KeyDialogProps) {
  const { t } = useTranslation()
  const resume = useResume()
  const pause = useChange(madeOldByKey, {
    change: () => call(keyRoutes.pauseKey, { params: { id } }),
    said: () => (
      <Group justify="space-between">
        {t('pause.done', { name })}
        <Button size="compact-sm" variant="default" onClick={() => resume.mutate({ id })}>
          {t('undo')}
        </Button>
      </Group>
    ),
    onDone: onClose,
  })
  return (
    <ConfirmDialog
      title={t('pause.title', { name })}
      action={t('pause.action')}
      effect={t('pause.effect')}
      onCancel={onClose}
      change={pause}
    />
  )
}

type RevokeDialogProps = KeyDialogProps & { readonly onAction: (action: 'pause') => void }

/** Revokes a key permanently. Says what will stop working, requires a reason, and for a key in use its name. */
function RevokeDialog({ keyInBrief, onClose, onAction }: RevokeDialogProps) {
  const { t } = useTranslation()
  const { id, name } = keyInBrief
  const { values, set, text } = useFields({ reason: '', typedName: '' })
  const { reason, typedName } = values
  const isInUse = useIsInUse(keyInBrief)
  const revoke = useChange(madeOldByKey, {
    change: () => call(keyRoutes.revokeKey, { params: { id }, body: { reason } }),
    said: () => t('revoke.done', { name }),
    onDone: onClose,
  })
  return (
    <ConfirmDialog
      title={t('revoke.title', { name })}
      action={t('revoke.action')}
      isDangerous
      isReady={reason.trim() !== '' && (!isInUse || typedName.trim() === name)}
      onCancel={onClose}
      change={revoke}
    >
      <LastUse keyInBrief={keyInBrief} />
      <p>{t('revoke.effect')}</p>
      {keyInBrief.status === 'active' && (
        <p>
          {t('revoke.pauseHint')}{' '}
          <Button size="compact-sm" variant="default" onClick={() => onAction('pause')}>
            {t('revoke.pauseInstead')}
          </Button>
        </p>
      )}
      <ReasonField
        label={t('revoke.reason')}
        description={t('revoke.reasonHint')}
        value={reason}
        onChange={(typed) => set({ reason: typed })}
      />
      {isInUse && (
        <TextInput
          label={t('revoke.typeName', { name })}
          required
          autoComplete="off"
          {...text('typedName')}
        />
      )}
    </ConfirmDialog>
  )
}

function useIsInUse({ last_used_at: lastUsedAt }: KeyInBrief): boolean {
  const now = useNow()
  return lastUsedAt !== null && now - Date.parse(lastUsedAt) < DAY_MS
}

function LastUse({ keyInBrief }: Pick<KeyDialogProps, 'keyInBrief'>) {
  const { t, format } = useTranslation()
  const now = useNow()
  const isInUse = useIsInUse(keyInBrief)
  const { may } = useSession()
  const { id, last_used_at: lastUsedAt } = keyInBrief
  const usage = useQuery({
    queryKey: ['keys', 'last-day', id],
    queryFn: ({ signal }) => {
      const since = new Date(Date.now() - DAY_MS).toISOString()
      const query = { since, by: 'hour' } as const
      return call(usageRoutes.readKeyUsage, { params: { id }, query, signal })
    },
    enabled: isInUse && may('usage:read'),
  })
  if (lastUsedAt === null) return <Notice tone="info">{t('revoke.neverUsed')}</Notice>
  const requests = usage.data?.total.requests
  return (
    <Notice tone={isInUse ? 'warn' : 'info'}>
      {t('revoke.lastUsed', { when: format.relative(lastUsedAt, now) })}
      {requests !== undefined &&
        ` ${t('revoke.requestsLastDay', { count: requests, number: format.number(requests) })}`}
    </Notice>
  )
}

function TopUpKeyDialog({ keyInBrief, onClose }: KeyDialogProps) {
  const { t, format } = useTranslation()
  const { id, name } = keyInBrief
  const [idempotencyKey] = useState(newIdempotencyKey)
  const topUp = useChange(madeOldByKey, {
    change: async (body: TopUp) => {
      const key = await call(keyRoutes.topUpKey, { params: { id }, body, idempotencyKey })
      return budgetOf(key, body)
    },
    said: ({ limit }) => t('topUp.done', { name, limit: format.money(limit ?? '0') }),
    onDone: onClose,
  })
  const title = t('topUp.title', { name })
  return <TopUpDialog {...{ title, account: keyInBrief, topUp, onClose }} />
}

function ResetKeyDialog({ keyInBrief, onClose }: KeyDialogProps) {
  const { t } = useTranslation()
  const { id, name } = keyInBrief
  const [idempotencyKey] = useState(newIdempotencyKey)
  const reset = useChange(madeOldByKey, {
    change: (body: Reset) => call(keyRoutes.resetKey, { params: { id }, body, idempotencyKey }),
    said: () => t('reset.done', { name }),
    onDone: onClose,
  })
  return (
    <ResetDialog
      title={t('reset.title', { name })}
      account={keyInBrief}
      effectOf={(spent) => t('reset.effect', { spent })}
      reset={reset}
      onClose={onClose}
    />
  )
}

const usual = 86_400

/** Gives a key a new secret while the old one keeps working for a while; then shows the new one, once. */
function RotateDialog({ keyInBrief, onClose }: KeyDialogProps) {
  const { id, name, masked, old_secret: older } = keyInBrief
  const { t, format } = useTranslation()
  const now = useNow()
  // Undefined while the custom overlap is invalid.
  const [overlap, setOverlap] = useState<number | undefined>(usual)
  const [idempotencyKey] = useState(newIdempotencyKey)
  const [rotated, setRotated] = useState<AnswerOf<typeof keyRoutes.rotateKey>>()
  const rotate = useChange(madeOldByKey, {
    change: () => {
      const body = overlap === undefined ? {} : { overlap_seconds: overlap }
      return call(keyRoutes.rotateKey, { params: { id }, body, idempotencyKey })
    },
    onAnswer: setRotated,
  })
  if (rotated) return <SecretDialog created={rotated} reason="rotated" onClose={onClose} />
  return (
    <ConfirmDialog
      title={t('rotate.title', { name })}
      action={t('rotate.action')}
      effect={t('rotate.effect')}
      isReady={overlap !== undefined}
      onCancel={onClose}
      change={rotate}
    >
      {older && <OlderSecret older={older} />}
      <OverlapField usual={usual} onChange={setOverlap} />
      {overlap !== undefined && (
        <p className="muted" role="status">
          {overlap === 0
            ? t('rotate.endsAtOnce', { masked })
            : t('rotate.worksUntil', {
                masked,
                moment: format.dateTime(new Date(now + overlap * 1000).toISOString()),
              })}
        </p>
      )}
    </ConfirmDialog>
  )
}

type OlderSecretProps = { readonly older: NonNullable<KeyInBrief['old_secret']> }

/** A key has two secrets at most: whether programs use the older one decides whether another rotation stops them. */
function OlderSecret({ older: { masked, last_used_at: at } }: OlderSecretProps) {
  const { t, format } = useTranslation()
  const now = useNow()
  return (
    <Notice tone="warn" title={t('rotate.endsAtOnce', { masked })}>
      {at === null ? t('rotate.unused') : t('rotate.stillUsed', { when: format.relative(at, now) })}
    </Notice>
  )
}

const offered = ['0', '900', '3600', '86400', '604800', 'own'] as const
const units = { minutes: 60, hours: 3_600, days: 86_400 } as const
type Unit = keyof typeof units
const unitNames = Object.keys(units) as Unit[]

type OverlapFieldProps = {
  /** In seconds, one of the presets. */
  readonly usual: number
  /** In seconds; undefined if the input is invalid. */
  readonly onChange: (seconds: number | undefined) => void
}

/** How long the old secret keeps working: a preset, or a custom time of at most seven days. */
function OverlapField({ usual, onChange }: OverlapFieldProps) {
  const { t } = useTranslation()
  const [choice, setChoice] = useState(String(usual))
  const [typed, setTyped] = useState('')
  const [unit, setUnit] = useState<Unit>('hours')
  const change = (next: { choice?: string; typed?: string; unit?: Unit }) => {
    const all = { choice, typed, unit, ...next }
    setChoice(all.choice)
    setTyped(all.typed)
    setUnit(all.unit)
    onChange(all.choice === 'own' ? secondsOf(all.typed, all.unit) : Number(all.choice))
  }
  const isWrong = typed !== '' && secondsOf(typed, unit) === undefined
  return (
    <>
      <NativeSelect
        label={t('rotate.overlap')}
        data-autofocus
        value={choice}
        onChange={({ currentTarget }) => change({ choice: currentTarget.value })}
        data={offered.map((value) => ({ value, label: t(`rotate.seconds.${value}`) }))}
      />
      {choice === 'own' && (
        <Group align="flex-start" grow>
          <TextInput
            label={t('rotate.own')}
            inputMode="numeric"
            required
            autoComplete="off"
            value={typed}
            error={isWrong && t('rotate.ownProblem')}
            onChange={({ currentTarget }) => change({ typed: currentTarget.value })}
          />
          <Choice
            label={t('rotate.unit')}
            isRequired
            value={unit}
            values={unitNames}
            wordOf={(name) => t(`rotate.units.${name}`)}
            onChoose={(name) => change({ unit: name ?? unit })}
          />
        </Group>
      )}
    </>
  )
}

/** Whole numbers only: half an hour is thirty minutes. */
function secondsOf(typed: string, unit: Unit): number | undefined {
  const text = typed.trim()
  const seconds = Number(text) * units[unit]
  return /^[1-9]\d*$/.test(text) && seconds * 1_000 <= OVERLAP_MS_MAX ? seconds : undefined
}

function EndOverlapDialog({ keyInBrief, onClose }: KeyDialogProps) {
  const { t } = useTranslation()
  const { id, name, old_secret: old } = keyInBrief
  const end = useChange(madeOldByKey, {
    change: () => call(keyRoutes.endOverlap, { params: { id } }),
    said: () => t('endOverlap.done', { name }),
    onDone: onClose,
  })
  return (
    <ConfirmDialog
      title={t('endOverlap.title', { name })}
      action={t('endOverlap.action')}
      effect={t('endOverlap.effect', { masked: old?.masked ?? '' })}
      isDangerous
      onCancel={onClose}
      change={end}
    />
  )
}

function TestDialog({ keyInBrief: { id, name }, onClose }: KeyDialogProps) {
  const { t } = useTranslation()
  return (
    <Dialog
      title={t('testCall.title', { name })}
      onClose={onClose}
      buttons={
        <Button variant="default" onClick={onClose}>
          {t('dialog.close')}
        </Button>
      }
    >
      <p>{t('testCall.about')}</p>
      <TestCall id={id} />
    </Dialog>
  )
}
