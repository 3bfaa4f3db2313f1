// The tabs of a group's page that are part of it: its keys, its settings and its audit log.
import { Button, Group, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { GroupDetail } from '../../../../src/admin/contract/groups.ts'
import type { KeyRow } from '../../../../src/admin/contract/keys.ts'
import { type AddressProps, type GroupSearch, perPage } from '../../base/address.ts'
import { keysQuery } from '../../base/queries.ts'
import { useSession } from '../../base/session.ts'
import { useTranslation } from '../../i18n/i18n.ts'
import { FactList, type Facts, Moment, useMoneyColumn } from '../../parts/cells.tsx'
import { type Column, Pager, QueryTable } from '../../parts/data-table.tsx'
import { KeyIcon, PlusIcon } from '../../parts/icons.tsx'
import { BudgetCell } from '../../parts/meters.tsx'
import { AuditEntries } from '../audit/audit.tsx'
import { KeyStatus } from '../keys/key-brief.tsx'
import { useRateWords } from '../keys/key-words.ts'
import styles from './groups.module.css'

export type TabProps = AddressProps<GroupSearch> & { readonly group: GroupDetail }

/** Those that spend most first. */
export function KeysTab({ group, search: { page = 1 }, onChange }: TabProps) {
  const { t } = useTranslation()
  const { may } = useSession()
  const keys = useQuery(
    keysQuery({
      ...{ group: group.id, status: 'current', sort: 'spent', order: 'desc' },
      ...{ page, per_page: perPage },
    }),
  )
  const rows = keys.data?.keys
  return (
    <>
      {group.keys > 0 && (
        <Group justify="space-between" mb="md">
          <Group gap="lg">
            <Link to="/settings/api-access" search={{ group: group.id }}>
              {t('group.inOverview')}
            </Link>
            {may('requests:read') && (
              <Link to="/settings/requests" search={{ group: group.id, outcome: 'refused' }}>
                {t('group.refusals')}
              </Link>
            )}
          </Group>
          <CreateKey group={group} />
        </Group>
      )}
      <QueryTable
        caption={t('group.keysCaption')}
        columns={useKeyColumns(rows)}
        rows={rows}
        query={keys}
        failed={t('overview.failed')}
        none={{
          ...{ icon: KeyIcon, title: t('group.noKeys'), about: t('group.noKeysAbout') },
          actions: <CreateKey group={group} />,
        }}
        isFetching={keys.isPlaceholderData}
        expectedLines={2}
      />
      {keys.data && keys.data.total > perPage && (
        <Pager
          page={page}
          perPage={perPage}
          total={keys.data.total}
          onPage={(next) => onChange({ page: next })}
        />
      )}
    </>
  )
}

function CreateKey({ group: { id, status } }: Pick<TabProps, 'group'>) {
  const { t } = useTranslation()
  const { may } = useSession()
  if (!may('configuration:manage') || status === 'archived') return null
  return (
    <Button
      component={Link}
      to={`/settings/api-access/new?group=${id}`}
      variant="default"
      leftSection={<PlusIcon />}
    >
      {t('overview.create')}
    </Button>
  )
}

function useKeyColumns(rows: readonly KeyRow[] | undefined): readonly Column<KeyRow>[] {
  const { t } = useTranslation()
  const cost = useMoneyColumn(rows?.map(({ cost_7d: { total } }) => total))
  return [
    {
      header: t('column.name'),
      isRowHeader: true,
      cell: ({ id, name, masked }) => (
        <>
          <Link className="break" to="/settings/api-access/$id" params={{ id }}>
            {name}
          </Link>
          <div className="sub">
            <code>{masked}</code>
          </div>
        </>
      ),
    },
    { header: t('column.status'), card: 'plain', cell: (row) => <KeyStatus keyInBrief={row} /> },
    { header: t('column.budget'), cell: (row) => <BudgetCell name={row.name} budget={row} /> },
    { header: t('column.cost'), align: 'end', cell: ({ cost_7d: { total } }) => cost(total) },
    {
      header: t('column.last_used'),
      cell: ({ last_used_at: at }) => (at ? <Moment at={at} /> : t('never')),
    },
  ]
}

export function SettingsTab({ group }: TabProps) {
  const { t, format } = useTranslation()
  const rates = useRateWords()(group)
  const per = (budget: string, period: GroupDetail['period']) =>
    `${format.money(budget)} ${t(`periodShort.${period}`)}`
  const { budget, period, timezone, window, request_cost_max: most, models } = group
  const none = t('changes.nothing')
  const facts: Facts = [
    [t('group.id'), group.id],
    [t('keyField.description'), group.description ?? none],
    [
      t('keyField.budget'),
      budget === null ? t('budget.noOwnLimit') : `${per(budget, period)}, ${timezone}`,
    ],
    [t('groups.window'), window ? per(window.budget, window.period) : none],
    [t('keyField.request_cost_max'), most === null ? t('keyForm.noLimit') : format.money(most)],
    [t('column.limits'), rates ?? t('rates.none')],
    [t('group.ceiling'), models === null ? t('group.noCeiling') : format.list(models) || none],
    [t('detail.created'), format.dateTime(group.created_at)],
  ]
  return (
    <Stack>
      <div className="card">
        <FactList facts={facts} />
      </div>
      <RulesCard group={group} />
    </Stack>
  )
}

/** What members may choose for keys of their own. */
function RulesCard({ group: { key_rules: rules } }: Pick<TabProps, 'group'>) {
  const { t, format } = useTranslation()
  const any = t('keyForm.noLimit')
  const count = (value: number | null) => (value === null ? any : format.number(value))
  const { budget_max: most, environments } = rules
  const facts: Facts = [
    [t('keyField.key_rules.self_service'), t(rules.self_service ? 'changes.yes' : 'changes.no')],
    [
      t('keyField.key_rules.budget_max'),
      most === null ? any : `${format.money(most.budget)} ${t(`periodShort.${most.period}`)}`,
    ],
    [t('keyField.key_rules.days_max'), count(rules.days_max)],
    [t('keyField.key_rules.keys_max'), count(rules.keys_max)],
    [
      t('keyField.key_rules.environments'),
      environments === null ? t('filter.any') : format.list(environments),
    ],
    [t('keyField.key_rules.rpm_max'), count(rules.rpm_max)],
    [t('keyField.key_rules.tpm_max'), count(rules.tpm_max)],
    [t('keyField.key_rules.concurrency_max'), count(rules.concurrency_max)],
  ]
  return (
    <section className={`card ${styles['rules']}`} aria-labelledby="rules-title">
      <h2 id="rules-title">{t('group.rules')}</h2>
      <p className="muted">{t('group.rulesAbout')}</p>
      <FactList facts={facts} />
    </section>
  )
}

export function ActivityTab({ group: { id } }: TabProps) {
  const { t } = useTranslation()
  return (
    <AuditEntries
      search={{ subject: 'group', subject_id: id }}
      none={{ title: t('audit.none'), about: t('audit.noneAbout') }}
    />
  )
}
