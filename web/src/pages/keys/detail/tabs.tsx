// The tabs of a key's page: its requests, models, settings and audit log.
import { Button, Group, Stack } from '@mantine/core'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { auditRoutes } from '../../../../../src/admin/contract/audit.ts'
import type { ModelAnswer } from '../../../../../src/admin/contract/gateway.ts'
import type { KeyDetail } from '../../../../../src/admin/contract/keys.ts'
import type { AmountForPeriod } from '../../../../../src/admin/contract/values.ts'
import { requestRoutes } from '../../../../../src/admin/contract/usage.ts'
import { REQUEST_OUTCOMES, type AddressProps, type DetailSearch } from '../../../base/address.ts'
import { addressOf, call } from '../../../base/api.ts'
import { groupQuery, modelsQuery, pagesQuery } from '../../../base/queries.ts'
import { useSession } from '../../../base/session.ts'
import { useTranslation } from '../../../i18n/i18n.ts'
import { FactList, StatusBadge, type Facts, usePriceCells } from '../../../parts/cells.tsx'
import { DataTable, type Column } from '../../../parts/data-table.tsx'
import { Choice, CsvButton, Toolbar } from '../../../parts/filters.tsx'
import { BanIcon, CheckIcon, CubeIcon, WarningIcon } from '../../../parts/icons.tsx'
import { EmptyState, QueryError } from '../../../parts/notices.tsx'
import { AuditLog } from '../../audit/audit-log.tsx'
import { type NumberField, numberWords } from '../../audit/change-lines.ts'
import { RefusalTable } from '../../requests/refusal-table.tsx'
import { RequestDrawer } from '../../requests/request-drawer.tsx'
import { RequestTable } from '../../requests/request-table.tsx'
import { useRateWords } from '../key-words.ts'

export type TabProps = AddressProps<DetailSearch> & { readonly detail: KeyDetail }

export function RequestsTab({ detail: { id }, search: { outcome, open }, onChange }: TabProps) {
  const { t } = useTranslation()
  return (
    <>
      <Toolbar>
        <Choice
          label={t('requests.outcome')}
          value={outcome}
          values={REQUEST_OUTCOMES}
          wordOf={(each) => t(`requests.outcomes.${each}`)}
          none={t('requests.admitted')}
          onChoose={(each) => onChange({ outcome: each })}
        />
      </Toolbar>
      {outcome === 'refused' ? (
        <RefusalTable query={{ key: id }} />
      ) : (
        <KeyRequests id={id} outcome={outcome} onOpen={(request) => onChange({ open: request })} />
      )}
      {open && <RequestDrawer id={open} onClose={() => onChange({ open: undefined })} />}
    </>
  )
}

type KeyRequestsProps = {
  readonly id: string
  readonly outcome: 'ok' | 'failed' | undefined
  readonly onOpen: (request: string) => void
}

function KeyRequests({ id, outcome, onOpen }: KeyRequestsProps) {
  const requests = useInfiniteQuery(
    pagesQuery(['keys', 'requests', id, outcome], (before, signal) => {
      const query = { outcome, before, limit: 25 }
      return call(requestRoutes.listKeyRequests, { params: { id }, query, signal })
    }),
  )
  return <RequestTable requests={requests} onOpen={onOpen} />
}

type Row = { readonly id: string; readonly model: ModelAnswer | undefined }

export function ModelsTab({ detail }: TabProps) {
  const { t } = useTranslation()
  const models = useQuery(modelsQuery)
  const ceiling = useCeiling(detail.group)
  const rows = detail.models
    .toSorted()
    .map((id): Row => ({ id, model: models.data?.find((model) => model.id === id) }))
  const price = usePriceCells(rows.map(({ model }) => model))
  if (rows.length === 0) return <EmptyState icon={CubeIcon} title={t('models.none')} />
  const columns: readonly Column<Row>[] = [
    {
      header: t('usage.group.model'),
      isRowHeader: true,
      cell: ({ id }) => <span className="break">{id}</span>,
    },
    { header: t('modelList.provider'), cell: ({ model }) => model?.provider ?? '–' },
    { header: t('picker.kind'), cell: ({ model }) => (model ? t(`modelKind.${model.kind}`) : '–') },
    {
      header: t('requests.status'),
      cell: (row) => <Availability row={row} detail={detail} ceiling={ceiling} />,
    },
    { header: t('modelList.input'), align: 'end', cell: ({ model }) => price.input(model) },
    { header: t('modelList.output'), align: 'end', cell: ({ model }) => price.output(model) },
  ]
  return (
    <Stack>
      {models.error && !models.data && <QueryError title={t('picker.failed')} query={models} />}
      <DataTable
        caption={t('modelList.caption')}
        columns={columns}
        rows={models.isPending ? undefined : rows}
      />
    </Stack>
  )
}

/** What the group of a key allows at most; null: no ceiling, or not known yet. */
function useCeiling(group: KeyDetail['group']): readonly string[] | null {
  const { data } = useQuery({ ...groupQuery(group?.id ?? ''), enabled: group !== null })
  return data?.models ?? null
}

type AvailabilityProps = {
  readonly row: Row
  readonly detail: KeyDetail
  readonly ceiling: readonly string[] | null
}

function Availability({ row, detail, ceiling }: AvailabilityProps) {
  const { t } = useTranslation()
  if (ceiling?.includes(row.id) === false)
    return (
      <StatusBadge
        tone="bad"
        icon={BanIcon}
        word={t('modelList.leftOut')}
        explanation={t('modelList.leftOutAbout', { group: detail.group?.name ?? '' })}
      />
    )
  const model = detail.closest_models[row.id]
  const absence = model === undefined ? t('modelList.gone') : t('modelList.mistyped', { model })
  if (detail.unavailable_models.includes(row.id))
    return (
      <StatusBadge
        tone="warn"
        icon={WarningIcon}
        word={t('health.unavailable.word')}
        explanation={row.model?.reason ?? absence}
      />
    )
  return <StatusBadge tone="good" icon={CheckIcon} word={t('modelList.available')} />
}

export function SettingsTab({ detail }: TabProps) {
  const words = useTranslation()
  const { t, format } = words
  const rates = useRateWords()(detail)
  const { may } = useSession()
  const none = t('changes.nothing')
  const { request_cost_max: most } = detail
  const facts: Facts = [
    [t('detail.id'), detail.id],
    [t('keyField.description'), detail.description ?? none],
    [t('keyField.group'), <GroupLink key="group" group={detail.group} />],
    [t('keyField.owner'), detail.owner ?? none],
    [t('keyField.environment'), detail.environment ?? none],
    [t('keyForm.field.mode'), t(`keyForm.mode.${detail.mode}`)],
    [t('keyField.tags'), detail.tags.join(', ') || none],
    [t('keyField.budget'), budgetWords()],
    [t('keyField.window'), detail.window ? per(detail.window) : none],
    [t('keyField.model_budgets'), capWords()],
    [t('keyField.request_cost_max'), most === null ? t('keyForm.noLimit') : format.money(most)],
    [t('keyForm.field.when_tight'), t(`keyForm.whenTight.${detail.when_tight}`)],
    [t('keyField.alert_thresholds'), listed('alert_thresholds')],
    [t('column.limits'), rates ?? t('rates.none')],
    [
      t('keyForm.field.permissions'),
      format.list(detail.permissions.map((endpoint) => t(`endpoint.${endpoint}`))),
    ],
    [t('detail.created'), format.dateTime(detail.created_at)],
    [t('keyField.expires_at'), detail.expires_at ? format.dateTime(detail.expires_at) : t('never')],
    ...(detail.expires_at === null
      ? []
      : [[t('keyField.expiry_reminders'), listed('expiry_reminders')] as const]),
    [
      t('column.last_used'),
      detail.last_used_at ? format.dateTime(detail.last_used_at) : t('never'),
    ],
  ]
  return (
    <div className="card">
      <FactList facts={facts} />
      {may('configuration:manage') && detail.status !== 'revoked' && (
        <Group mt="lg">
          <Button component={Link} to={`/settings/api-access/${detail.id}/edit`} variant="default">
            {t('action.edit')}
          </Button>
        </Group>
      )}
    </div>
  )

  function listed(field: NumberField): string {
    return numberWords(field, detail[field], words) || none
  }

  function budgetWords(): string {
    if (detail.budget === null) return t('budget.noOwnLimit')
    return `${per({ budget: detail.budget, period: detail.period })}, ${detail.timezone}`
  }

  function per({ budget, period }: AmountForPeriod): string {
    return `${format.money(budget)} ${t(`periodShort.${period}`)}`
  }

  function capWords(): string {
    const caps = detail.model_budgets.map((cap) =>
      t('changes.forModel', { model: cap.model, budget: per(cap) }),
    )
    return caps.join(', ') || none
  }
}

function GroupLink({ group }: Pick<KeyDetail, 'group'>) {
  const { t } = useTranslation()
  if (group === null) return t('keyForm.noGroup')
  return (
    <Link to="/settings/groups/$id" params={{ id: group.id }}>
      {group.name}
    </Link>
  )
}

export function ActivityTab({ detail: { id } }: TabProps) {
  const { t } = useTranslation()
  const activity = useInfiniteQuery(
    pagesQuery(['keys', 'activity', id], (before, signal) =>
      call(auditRoutes.listKeyActivity, { params: { id }, query: { before }, signal }),
    ),
  )
  const csv = addressOf(auditRoutes.exportAudit, { query: { subject: 'key', subject_id: id } })
  return (
    <>
      <Group justify="flex-end" mb="md">
        <CsvButton href={csv} name="activity.csv" />
      </Group>
      <AuditLog log={activity} none={{ title: t('audit.none'), about: t('audit.noneAbout') }} />
    </>
  )
}
