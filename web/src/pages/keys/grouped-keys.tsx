// The keys by group: a section for each, with what the group has spent and how many keys it has; the keys themselves are
// loaded when a section is opened.
import { useQuery, type UseQueryResult } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type ReactNode, useId, useState } from 'react'
import type { FrameAnswer } from '../../../../src/admin/contract/groups.ts'
import type { GroupAnswer } from '../../../../src/admin/contract/groups.ts'
import type { KeyPage, KeyRow } from '../../../../src/admin/contract/keys.ts'
import { minus, sumOf } from '../../base/amounts.ts'
import { type AddressProps, columnsOf, keyQueryOf, perPage } from '../../base/address.ts'
import { OUTSIDE_GROUPS, type OverviewSearch } from '../../base/address.ts'
import { groupsQuery, keysQuery } from '../../base/queries.ts'
import { useTranslation } from '../../i18n/i18n.ts'
import { Pager } from '../../parts/data-table.tsx'
import { ChevronRightIcon } from '../../parts/icons.tsx'
import { BudgetCell } from '../../parts/meters.tsx'
import { Loading, QueryError } from '../../parts/notices.tsx'
import type { Selection } from './bulk-bar.tsx'
import styles from './grouped-keys.module.css'
import type { KeyAction } from './key-brief.tsx'
import { KeyTable } from './key-table.tsx'

type GroupedKeysProps = AddressProps<OverviewSearch> & {
  readonly frame: FrameAnswer | null | undefined
  /** Undefined for read-only roles. */
  readonly selection: Selection | undefined
  readonly onAction: (action: KeyAction, row: KeyRow) => void
}

/** So few are opened at first. */
const openedMax = 5

export function GroupedKeys(props: GroupedKeysProps) {
  const { search, frame } = props
  const { t } = useTranslation()
  const groups = useQuery(groupsQuery)
  if (!groups.data && groups.error) return <QueryError title={t('groups.failed')} query={groups} />
  if (!groups.data) return <Loading lines={3} height={64} />
  const isChosen = (id: string) => search.group === undefined || [search.group].flat().includes(id)
  const shown = groups.data.filter(({ id }) => isChosen(id))
  const isFew = shown.length <= openedMax
  return (
    <div className={styles['sections']}>
      {shown.map((group) => (
        <Section
          key={group.id}
          {...props}
          groupId={group.id}
          title={group.name}
          isFew={isFew}
          allocated={group.allocated}
          count={group.keys}
        >
          <BudgetCell name={group.name} budget={group} />
        </Section>
      ))}
      {isChosen(OUTSIDE_GROUPS) && (
        <Section
          {...props}
          groupId={OUTSIDE_GROUPS}
          title={t('filter.outsideGroups')}
          isFew={isFew}
          allocated={frame ? allocatedOutside(frame, groups.data) : undefined}
        />
      )}
    </div>
  )
}

/** The frame's allocation counts active groups with a budget, and keys outside groups. */
function allocatedOutside(frame: FrameAnswer, groups: readonly GroupAnswer[]): string {
  const budgets = groups.filter(({ status }) => status === 'active').map(({ budget }) => budget)
  return minus(frame.allocated, sumOf(budgets.filter((budget) => budget !== null)))
}

type SectionProps = GroupedKeysProps & {
  readonly groupId: string
  readonly title: string
  readonly isFew: boolean
  /** What its keys may spend together. */
  readonly allocated: string | undefined
  /** How many keys it has, if that is known without asking. */
  readonly count?: number
  /** What the group has spent. */
  readonly children?: ReactNode
}

function Section(props: SectionProps) {
  const { search, groupId, title, isFew, allocated, children } = props
  const { t, format } = useTranslation()
  const [isOpen, setOpen] = useState(isFew)
  const [page, setPage] = useState(1)
  const contentId = useId()
  const query = { ...keyQueryOf(search), group: groupId, page }
  const keys = useQuery({ ...keysQuery(query), enabled: isOpen || props.count === undefined })
  const count = keys.data?.total ?? props.count
  return (
    <section className={styles['section']}>
      <div className={styles['head']}>
        <h2>
          <button
            type="button"
            aria-expanded={isOpen}
            aria-controls={contentId}
            onClick={() => setOpen(!isOpen)}
          >
            <ChevronRightIcon />
            {title}
          </button>
        </h2>
        <div className={styles['facts']}>
          {count !== undefined && <span>{t('modelsPage.keyCount', { count })}</span>}
          {allocated !== undefined && (
            <span>{t('group.allocated', { amount: format.money(allocated) })}</span>
          )}
          {groupId !== OUTSIDE_GROUPS && (
            <Link to="/settings/groups/$id" params={{ id: groupId }}>
              {t('overview.openGroup')}
              <span className="visually-hidden"> {title}</span>
            </Link>
          )}
        </div>
        {children && <div className={styles['budget']}>{children}</div>}
      </div>
      <div id={contentId} hidden={!isOpen}>
        {isOpen && <SectionKeys {...props} keys={keys} page={page} onPage={setPage} />}
      </div>
    </section>
  )
}

type SectionKeysProps = SectionProps & {
  readonly keys: UseQueryResult<KeyPage>
  readonly page: number
  readonly onPage: (page: number) => void
}

function SectionKeys(props: SectionKeysProps) {
  const { search, selection, keys, page, onPage, onChange, onAction } = props
  const { t } = useTranslation()
  if (keys.error && !keys.data) return <QueryError title={t('overview.failed')} query={keys} />
  if (keys.data?.total === 0)
    return <p className="muted">{t(props.count === 0 ? 'group.noKeys' : 'overview.noMatch')}</p>
  return (
    <>
      <KeyTable
        rows={keys.data?.keys}
        query={keyQueryOf(search)}
        shown={columnsOf(search)}
        isDense={search.roomy !== true}
        isAligned
        isFetching={keys.isPlaceholderData}
        selection={selection}
        onSort={(sort, order) => onChange({ sort, order })}
        onAction={onAction}
      />
      {keys.data && keys.data.total > perPage && (
        <Pager page={page} perPage={perPage} total={keys.data.total} onPage={onPage} />
      )}
    </>
  )
}
