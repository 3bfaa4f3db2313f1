// Every group of keys: its budgets, its state, how many keys and members it has.
import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { GroupAnswer } from '../../../../src/admin/contract/groups.ts'
import { GROUP_STATUSES, perPage } from '../../base/address.ts'
import type { AddressProps, GroupSort, GroupsSearch } from '../../base/address.ts'
import { groupsQuery } from '../../base/queries.ts'
import { useSession } from '../../base/session.ts'
import { type Translate, useTranslation } from '../../i18n/i18n.ts'
import { actionColumn, type Column, Pager, QueryTable } from '../../parts/data-table.tsx'
import { Choice, Toolbar, TypedFilter } from '../../parts/filters.tsx'
import { GroupIcon, PlusIcon, SearchIcon } from '../../parts/icons.tsx'
import { BudgetCell } from '../../parts/meters.tsx'
import { EmptyState } from '../../parts/notices.tsx'
import { dialogOnDemand } from '../../parts/on-demand.tsx'
import { PageHeader } from '../../parts/page-header.tsx'
import { type GroupAction, GroupMenu, GroupStatus } from './group-brief.tsx'
import { foundGroups } from './group-list.ts'
import styles from './groups.module.css'

// Loaded with the first action.
const GroupDialogs = dialogOnDemand(async () => (await import('./group-dialogs.tsx')).GroupDialogs)

const route = getRouteApi('/app/settings/groups/')

export function GroupsPage() {
  const { t } = useTranslation()
  const { may } = useSession()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const change = (next: Partial<GroupsSearch>) =>
    void navigate({ search: (old) => ({ ...old, page: undefined, ...next }), replace: true })
  const groups = useQuery(groupsQuery)
  return (
    <>
      <PageHeader
        title={t('nav.groups')}
        about={t('groups.about')}
        actions={may('configuration:manage') && <CreateButton />}
      />
      {groups.data?.length === 0 ? (
        <EmptyState
          icon={GroupIcon}
          title={t('groups.none')}
          about={t('groups.noneAbout')}
          actions={may('configuration:manage') && <CreateButton />}
        />
      ) : (
        <GroupList search={search} onChange={change} groups={groups} />
      )}
    </>
  )
}

function CreateButton() {
  const { t } = useTranslation()
  return (
    <Button component={Link} to="/settings/groups/new" leftSection={<PlusIcon />} data-shortcut="c">
      {t('groupForm.create')}
    </Button>
  )
}

type GroupListProps = AddressProps<GroupsSearch> & {
  readonly groups: {
    readonly data: readonly GroupAnswer[] | undefined
    readonly error: Error | null
    readonly refetch: () => unknown
  }
}

function GroupList({ search, onChange, groups }: GroupListProps) {
  const { t } = useTranslation()
  const [open, setOpen] = useState<{ readonly action: GroupAction; readonly id: string }>()
  const { sort = 'name', order = 'asc', page = 1 } = search
  const found = groups.data && foundGroups(groups.data, { ...search, sort, order })
  const shown = found?.slice((page - 1) * perPage, page * perPage)
  const opened = groups.data?.find(({ id }) => id === open?.id)
  return (
    <>
      <GroupFilters search={search} onChange={onChange} />
      <QueryTable
        caption={t('groups.caption')}
        columns={columnsOf(t, (action, { id }) => setOpen({ action, id }))}
        rows={shown}
        sort={{ by: sort, order }}
        onSort={({ by, order: next }) => onChange({ sort: by, order: next })}
        query={groups}
        failed={t('groups.failed')}
        none={{
          icon: SearchIcon,
          title: t('groups.noMatch'),
          actions: (
            <Button
              variant="default"
              onClick={() => onChange({ search: undefined, status: undefined })}
            >
              {t('overview.clearFilters')}
            </Button>
          ),
        }}
        expectedLines={2}
      />
      {found && found.length > 0 && (
        <Pager
          page={page}
          perPage={perPage}
          total={found.length}
          onPage={(next) => onChange({ page: next })}
        />
      )}
      {open && opened && (
        <GroupDialogs action={open.action} group={opened} onClose={() => setOpen(undefined)} />
      )}
    </>
  )
}

function GroupFilters({ search, onChange }: AddressProps<GroupsSearch>) {
  const { t } = useTranslation()
  return (
    <Toolbar>
      <TypedFilter
        label={t('filter.search')}
        icon={<SearchIcon />}
        value={search.search}
        onChange={(words) => onChange({ search: words })}
      />
      <Choice
        label={t('filter.status')}
        value={search.status}
        values={GROUP_STATUSES}
        wordOf={(status) => t(`groups.state.${status}.word`)}
        onChoose={(status) => onChange({ status })}
      />
    </Toolbar>
  )
}

function columnsOf(
  t: Translate,
  onAction: (action: GroupAction, group: GroupAnswer) => void,
): readonly Column<GroupAnswer, GroupSort>[] {
  return [
    {
      header: t('column.name'),
      sort: 'name',
      isRowHeader: true,
      cell: ({ id, name, description }) => (
        <div className={styles['title']}>
          <Link to="/settings/groups/$id" params={{ id }} className="break">
            {name}
          </Link>
          {description && <div className={`sub ${styles['line']}`}>{description}</div>}
        </div>
      ),
    },
    {
      header: t('column.status'),
      sort: 'status',
      card: 'plain',
      cell: (group) => <GroupStatus group={group} />,
    },
    {
      header: t('column.budget'),
      sort: 'percent',
      firstOrder: 'desc',
      cell: (group) => <BudgetCell name={group.name} budget={group} />,
    },
    {
      header: t('groups.window'),
      cell: ({ name, window }) => (window ? <BudgetCell name={name} budget={window} /> : '–'),
    },
    {
      header: t('modelsPage.keys'),
      sort: 'keys',
      align: 'end',
      cell: ({ keys }) => <Count of={keys} />,
    },
    {
      header: t('groups.members'),
      sort: 'members',
      align: 'end',
      cell: ({ members }) => <Count of={members} />,
    },
    actionColumn<GroupAnswer>(t, (group) => (
      <GroupMenu group={group} onAction={(action) => onAction(action, group)} />
    )),
  ]
}

function Count({ of }: { readonly of: number }) {
  const { format } = useTranslation()
  return format.number(of)
}
