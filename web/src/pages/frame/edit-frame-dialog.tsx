// Edits the frame, or tops it up. The effect is shown before it is saved; a frame below what is already spent stops every
// key at once, so that amount must be typed twice. Nobody's change is overwritten unseen.
import { Select, TextInput } from '@mantine/core'
import { useState } from 'react'
import { frameRoutes, type FrameAnswer } from '../../../../src/admin/contract/groups.ts'
import { PERIODS, WEEK_STARTS } from '../../../../src/core/periods.ts'
import { differing, isMore, isSame, minus, sumOf } from '../../base/amounts.ts'
import { ApiError, call, newIdempotencyKey } from '../../base/api.ts'
import { useTranslation } from '../../i18n/i18n.ts'
import { amountProblem, readAmount, typedAmount } from '../../i18n/typed-numbers.ts'
import { budgetOf, timezones, TopUpDialog, useNextReset, type TopUp } from '../../parts/budgets.tsx'
import { useChange } from '../../parts/changes.tsx'
import { ConfirmDialog } from '../../parts/dialogs.tsx'
import { Choice } from '../../parts/filters.tsx'
import { BudgetMeter, frameTicks, shareOf } from '../../parts/meters.tsx'
import { Notice } from '../../parts/notices.tsx'
import { ChangeList } from '../audit/change-list.tsx'
import { recordedLine } from '../audit/change-lines.ts'
import styles from './frame.module.css'

export type FrameDialogProps = { readonly frame: FrameAnswer; readonly onClose: () => void }

export function EditFrameDialog({ frame: shown, onClose }: FrameDialogProps) {
  const words = useTranslation()
  const { t, format } = words
  const { separators } = format
  // The base version of the change; figures that move meanwhile must not replace it.
  const [frame] = useState(shown)
  const { period, timezone, week_start } = frame
  const [values, setValues] = useState<Values>({
    ...{ period, timezone, week_start },
    budget: typedAmount(frame.budget, separators),
  })
  const [typedAgain, setTypedAgain] = useState('')
  const budget = readAmount(values.budget, separators)
  const change = budget === undefined ? {} : differing(frame, { ...values, budget })
  const save = useChange(madeOldByFrame, {
    change: (version: string) => call(frameRoutes.changeFrame, { body: change, ifMatch: version }),
    said: () => t('framePage.saved'),
    onDone: onClose,
  })
  const conflict = save.error instanceof ApiError ? save.error.conflict : undefined
  const needsProof = budget !== undefined && isBelowSpent(shown, budget)
  const isProven = !needsProof || isSame(readAmount(typedAgain, separators) ?? null, budget)
  return (
    <ConfirmDialog
      title={t('framePage.edit')}
      action={conflict ? t('conflict.apply') : t('keyForm.save')}
      isDangerous={needsProof}
      isReady={Object.keys(change).length > 0 && isProven}
      change={{ isPending: save.isPending, error: conflict ? null : save.error }}
      onConfirm={() => save.mutate(conflict?.version ?? frame.version)}
      onCancel={onClose}
    >
      {conflict && <ChangedMeanwhile conflict={conflict} />}
      <Fields values={values} window={frame.window} onChange={setValues} />
      {budget !== undefined && <FrameEffect frame={shown} wanted={{ ...values, budget }} />}
      {needsProof && (
        <TextInput
          label={t('framePage.typeAmount', { amount: values.budget })}
          autoComplete="off"
          inputMode="decimal"
          value={typedAgain}
          onChange={({ currentTarget }) => setTypedAgain(currentTarget.value)}
        />
      )}
    </ConfirmDialog>
  )
}

/** Adds to the frame once, until its period ends. */
export function TopUpFrameDialog({ frame, onClose }: FrameDialogProps) {
  const { t, format } = useTranslation()
  const [idempotencyKey] = useState(newIdempotencyKey)
  const topUp = useChange(madeOldByFrame, {
    change: async (body: TopUp) =>
      budgetOf(await call(frameRoutes.topUpFrame, { body, idempotencyKey }), body),
    said: ({ limit }) =>
      t('topUp.done', { name: t('framePage.name'), limit: format.money(limit ?? '0') }),
    onDone: onClose,
  })
  const title = t('topUp.title', { name: t('framePage.nameObject') })
  return <TopUpDialog {...{ title, account: frame, topUp, onClose }} />
}

/** Only then does it matter on which day weeks begin. */
export function isWeekly({ period, window }: Pick<FrameAnswer, 'period' | 'window'>): boolean {
  return [period, window?.period].includes('week')
}

type Values = Pick<FrameAnswer, 'budget' | 'period' | 'timezone' | 'week_start'>

type FieldsProps = Pick<FrameAnswer, 'window'> & {
  readonly values: Values
  readonly onChange: (values: Values) => void
}

function Fields({ values, window, onChange }: FieldsProps) {
  const words = useTranslation()
  const { t } = words
  return (
    <div className={styles['pair']}>
      <TextInput
        label={t('keyForm.field.budget')}
        required
        data-autofocus
        inputMode="decimal"
        autoComplete="off"
        leftSection="$"
        value={values.budget}
        error={amountProblem(values.budget, words)}
        onChange={({ currentTarget }) => onChange({ ...values, budget: currentTarget.value })}
      />
      <Choice
        label={t('keyForm.field.period')}
        isRequired
        value={values.period}
        values={PERIODS}
        wordOf={(period) => t(`period.${period}`)}
        onChoose={(period) => period && onChange({ ...values, period })}
      />
      <Select
        label={t('keyForm.field.timezone')}
        searchable
        allowDeselect={false}
        data={timezones}
        value={values.timezone}
        onChange={(timezone) => timezone && onChange({ ...values, timezone })}
      />
      {isWeekly({ ...values, window }) && (
        <Choice
          label={t('keyForm.field.week_start')}
          isRequired
          value={values.week_start}
          values={WEEK_STARTS}
          wordOf={(day) => t(`keyForm.weekStart.${day}`)}
          onChoose={(day) => day && onChange({ ...values, week_start: day })}
        />
      )}
    </div>
  )
}

function ChangedMeanwhile({ conflict }: { readonly conflict: NonNullable<ApiError['conflict']> }) {
  const words = useTranslation()
  const { t, format } = words
  return (
    <Notice tone="warn" title={t('framePage.changedMeanwhile')} announce>
      {conflict.changes.map(({ at, actor, fields }) => (
        <div key={at + actor}>
          <p>{t('conflict.theirs', { actor, when: format.dateTime(at) })}</p>
          <ChangeList lines={fields.map((field) => recordedLine(field, words))} />
        </div>
      ))}
    </Notice>
  )
}

/** If so, every call of every key is refused at once. */
function isBelowSpent(frame: FrameAnswer, budget: string): boolean {
  return !isMore(limitOf(frame, budget), frame.spent) && isMore(frame.budget, budget)
}

/** The effect of a change of the frame, computed by the gateway's own rules. */
function FrameEffect({ frame, wanted }: { readonly frame: FrameAnswer; readonly wanted: Values }) {
  const { t, format } = useTranslation()
  const nextReset = useNextReset(wanted)
  const limit = limitOf(frame, wanted.budget)
  const isOver = isMore(frame.allocated, limit)
  return (
    <section className={styles['effect']} aria-label={t('framePage.effect')}>
      <p>
        {t('framePage.effectLeft', {
          spent: format.money(frame.spent),
          limit: format.money(limit),
          percent: format.percent(shareOf(frame.spent, limit)),
          left: format.moneyLeft(minus(limit, sumOf([frame.spent, frame.held]))),
        })}
      </p>
      <BudgetMeter
        label={t('framePage.effect')}
        budget={{ ...frame, limit }}
        height={12}
        ticks={frameTicks}
      />
      <p className="muted">{nextReset}</p>
      {isBelowSpent(frame, wanted.budget) ? (
        <Notice tone="bad" title={t('framePage.belowSpent')}>
          {t('framePage.belowSpentAbout')}
        </Notice>
      ) : (
        isOver && (
          <Notice tone="warn">
            {t('frame.overAllocated', {
              amount: format.money(frame.allocated),
              over: format.money(minus(frame.allocated, limit)),
            })}
          </Notice>
        )
      )}
    </section>
  )
}

function limitOf({ top_up: topUp }: FrameAnswer, budget: string): string {
  return sumOf([budget, topUp])
}

/** Queries that a change of the frame makes stale: its figures, those of the keys below it, and the audit log. */
export const madeOldByFrame = [['frame'], ['keys'], ['audit']] as const
