// The alert thresholds of one budget, in percent: the default ones, custom ones or none; and its latest alerts.
import { Button, Group, Stack, Switch, TagsInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { z } from 'zod'
import { alertRoutes } from '../../../../src/admin/contract/alerts.ts'
import type { alertRule } from '../../../../src/admin/contract/alerts.ts'
import { call } from '../../api.ts'
import { readList, thresholdLimits } from '../../i18n/typed-numbers.ts'
import { useFormat } from '../../i18n/use-format.ts'
import { useTranslation } from '../../i18n/use-translation.ts'
import { ErrorAlert } from '../../parts/error-alert.tsx'
import { problemOf } from '../../parts/field-problem.ts'
import { Loading } from '../../parts/loading.tsx'
import { useSession } from '../../session.ts'
import { useChange } from '../../use-change.ts'
import { madeOldByAlerts, ruleQuery } from './alert-queries.ts'
import { useAlertWords } from './alert-words.ts'
import styles from './alerts.module.css'

type Rule = z.output<typeof alertRule>
type RuleEditorProps = {
  /** Undefined for the frame. */
  readonly keyId: string | undefined
}

export function RuleEditor({ keyId }: RuleEditorProps) {
  const { t } = useTranslation()
  const rule = useQuery(ruleQuery(keyId))
  if (rule.error && !rule.data)
    return (
      <ErrorAlert
        title={t('alerts.failed')}
        error={rule.error}
        onRetry={() => void rule.refetch()}
      />
    )
  if (!rule.data) return <Loading lines={2} height={36} />
  return (
    <Stack gap="md" mt="md">
      <RuleForm keyId={keyId} rule={rule.data} />
      <LastAlerts alerts={rule.data.alerts} />
    </Stack>
  )
}

type Draft = { readonly isOwn: boolean; readonly typed: string[] }

function RuleForm({ keyId, rule }: RuleEditorProps & { readonly rule: Rule }) {
  const { t } = useTranslation()
  const format = useFormat()
  const { may } = useSession()
  // Shows the gateway's values until the reader types; from then on a refetch must not overwrite the draft.
  const [draft, setDraft] = useState<Draft>()
  const { isOwn, typed } = draft ?? { isOwn: rule.own, typed: rule.thresholds.map(String) }
  const body = { thresholds: isOwn ? typed.map(Number) : null }
  const save = useChange(madeOldByAlerts, {
    change: () =>
      keyId === undefined
        ? call(alertRoutes.changeFrameAlerts, { body })
        : call(alertRoutes.changeKeyAlerts, { params: { id: keyId }, body }),
    said: () => t('alerts.rulesSaved'),
    onDone: () => setDraft(undefined),
  })
  const isGood = !isOwn || readList(typed, thresholdLimits) !== undefined
  const isChanged = isOwn !== rule.own || (isOwn && typed.join() !== rule.thresholds.join())
  const problem = isGood ? problemOf(save.error, 'thresholds') : t('alerts.percentProblem')
  if (!may('configuration:manage'))
    return <p>{rule.thresholds.map((each) => format.percent(each / 100)).join(', ')}</p>
  return (
    <>
      <Switch
        label={t('alerts.own')}
        description={t('alerts.ownAbout')}
        checked={isOwn}
        onChange={({ currentTarget }) => setDraft({ isOwn: currentTarget.checked, typed })}
      />
      <TagsInput
        label={t('alerts.percent')}
        description={t('keyForm.hint.tags')}
        disabled={!isOwn}
        maxTags={thresholdLimits.count}
        value={typed}
        error={problem}
        onChange={(next) => setDraft({ isOwn, typed: next })}
      />
      {save.error && !problem && <ErrorAlert title={t('dialog.failed')} error={save.error} />}
      <Group>
        <Button
          variant="default"
          loading={save.isPending}
          disabled={!isChanged || !isGood}
          onClick={() => save.mutate()}
        >
          {t('keyForm.save')}
        </Button>
      </Group>
    </>
  )
}

function LastAlerts({ alerts }: Pick<Rule, 'alerts'>) {
  const { t } = useTranslation()
  const words = useAlertWords()
  if (alerts.length === 0) return <p className={styles['alerts']}>{t('alerts.noAlerts')}</p>
  return (
    <ul className={styles['alerts']} aria-label={t('alerts.last')}>
      {alerts.map((alert) => (
        <li key={alert.id}>{words.brief(alert)}</li>
      ))}
    </ul>
  )
}
