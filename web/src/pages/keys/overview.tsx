// Settings → API access: the frame above all keys, and every key with its limits, spending and state.
import { Button, Stack } from '@mantine/core'
import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { FrameAnswer } from '../../../../src/admin/contract/groups.ts'
import type { KeyRow } from '../../../../src/admin/contract/keys.ts'
import { KEY_CONCERNS, keyRoutes, type KeyPage } from '../../../../src/admin/contract/keys.ts'
import { columnsOf, FILTERS, keyQueryOf, perPage } from '../../base/address.ts'
import type { AddressProps, OverviewSearch } from '../../base/address.ts'
import { addressOf } from '../../base/api.ts'
import { keysQuery } from '../../base/queries.ts'
import { useSession } from '../../base/session.ts'
import { useTranslation } from '../../i18n/i18n.ts'
import { FrameCard, FrameExhausted } from '../../parts/budgets.tsx'
import { Pager } from '../../parts/data-table.tsx'
import { CsvButton } from '../../parts/filters.tsx'
import { KeyIcon, PlusIcon, SearchIcon } from '../../parts/icons.tsx'
import { EmptyState, Loading, Notice, QueryError } from '../../parts/notices.tsx'
import { dialogOnDemand, tabOnDemand } from '../../parts/on-demand.tsx'
import { PageHeader } from '../../parts/page-header.tsx'
import { BulkBar, useSelection } from './bulk-bar.tsx'
import { Freshness, type KeyAction } from './key-brief.tsx'
import { KeyTable } from './key-table.tsx'
import { KeyToolbar, noFilters } from './key-toolbar.tsx'
import styles from './overview.module.css'

// Loaded when the frame is edited: most visits only look.
const frameDialogs = {
  edit: dialogOnDemand(
    async () => (await import('../frame/edit-frame-dialog.tsx')).EditFrameDialog,
  ),
  topUp: dialogOnDemand(
    async () => (await import('../frame/edit-frame-dialog.tsx')).TopUpFrameDialog,
  ),
}

// Loaded when somebody looks at the keys by group.
const GroupedKeys = tabOnDemand(
  async () => (await import('./grouped-keys.tsx')).GroupedKeys,
  <Loading lines={3} height={64} />,
)

// Loaded while there are no keys.
const FirstSteps = tabOnDemand(
  async () => (await import('./first-steps.tsx')).FirstSteps,
  <Loading lines={5} height={64} />,
)

// Loaded with the first action.
const KeyDialogs = dialogOnDemand(async () => (await import('./key-dialogs.tsx')).KeyDialogs)

const route = getRouteApi('/app/settings/api-access/')

export function OverviewPage() {
  const { t } = useTranslation()
  const { may } = useSession()
  const search = route.useSearch()
  const keys = useQuery(keysQuery(keyQueryOf(search)))
  const page = keys.data
  const navigate = route.useNavigate()
  // Kept here rather than in the list: a key that leaves the list must not take its new secret with it.
  const [open, setOpen] = useState<{ readonly action: KeyAction; readonly row: KeyRow }>()
  const change = (next: Partial<OverviewSearch>) =>
    void navigate({ search: (old) => ({ ...old, page: undefined, ...next }), replace: true })
  return (
    <>
      <OverviewHeader search={search} />
      <Stack gap="lg">
        {page && <FramePart page={page} isStale={keys.isError} search={search} onChange={change} />}
        {!page && !keys.isError && <Loading lines={1} height={52} />}
        <QueryError title={page ? t('overview.stale') : t('overview.failed')} query={keys} />
        {page?.counts.all === 0 ? (
          page.frame && may('configuration:manage', 'everywhere') ? (
            <FirstSteps frame={page.frame} />
          ) : (
            <NoKeys />
          )
        ) : (
          (page || !keys.isError) && (
            <KeyList
              search={search}
              keys={keys}
              onChange={change}
              onAction={(action, row) => setOpen({ action, row })}
            />
          )
        )}
      </Stack>
      {open && (
        <KeyDialogs
          action={open.action}
          keyInBrief={open.row}
          onAction={(action) => setOpen({ ...open, action })}
          onClose={() => setOpen(undefined)}
        />
      )}
    </>
  )
}

type FramePartProps = AddressProps<OverviewSearch> & {
  readonly page: KeyPage
  readonly isStale: boolean
}

/** The frame above the keys; to those who are confined to groups only that it is exhausted, if it is. */
function FramePart({ page: { frame, frame_state: state }, isStale, ...address }: FramePartProps) {
  const { search, onChange } = address
  const { t } = useTranslation()
  const { may } = useSession()
  if (!frame) return state === 'exhausted' && <Notice tone="bad" title={t('frame.exhausted')} />
  const mayChange = may('configuration:manage', 'everywhere')
  const remedies = (
    <>
      <FrameButton frame={frame} action="edit" words={t('verdict.raiseFrame')} />
      <FrameButton frame={frame} action="topUp" words={t('action.topUp')} />
    </>
  )
  const edit = <FrameButton frame={frame} action="edit" words={t('framePage.edit')} />
  return (
    <>
      <FrameExhausted frame={frame} actions={mayChange && remedies} />
      <FrameCard
        frame={frame}
        isStale={isStale}
        fold={{
          isFolded: search.frame !== 'open',
          onFold: (isFolded) => onChange({ frame: isFolded ? undefined : 'open' }),
        }}
        actions={mayChange && edit}
      />
    </>
  )
}

type FrameButtonProps = {
  readonly frame: FrameAnswer
  readonly action: keyof typeof frameDialogs
  readonly words: string
}

function FrameButton({ frame, action, words }: FrameButtonProps) {
  const [isOpen, setOpen] = useState(false)
  const FrameDialog = frameDialogs[action]
  return (
    <>
      <Button variant="default" size="compact-sm" onClick={() => setOpen(true)}>
        {words}
      </Button>
      {isOpen && <FrameDialog frame={frame} onClose={() => setOpen(false)} />}
    </>
  )
}

type KeyListProps = AddressProps<OverviewSearch> & {
  readonly keys: UseQueryResult<KeyPage>
  readonly onAction: (action: KeyAction, row: KeyRow) => void
}

function KeyList({ search, keys, onChange, onAction }: KeyListProps) {
  const { may } = useSession()
  const page = keys.data
  const {
    page: _page,
    per_page: _perPage,
    sort: _sort,
    order: _order,
    ...filters
  } = keyQueryOf(search)
  const rows = keys.isPlaceholderData ? undefined : page?.keys
  const selection = useSelection({ filter: JSON.stringify(filters), rows })
  return (
    <section>
      <Stack gap="md">
        <ConcernChips
          counts={page?.counts}
          pressed={search.concern}
          onPress={(concern) => onChange({ concern })}
        />
        <KeyToolbar search={search} onChange={onChange}>
          {page && (
            <Freshness
              asOf={page.as_of}
              isFetching={keys.isFetching}
              isStale={keys.isError}
              onRefresh={() => void keys.refetch()}
            />
          )}
        </KeyToolbar>
        <BulkBar selection={selection} />
        {page?.total === 0 ? (
          <NoMatch search={search} onChange={onChange} />
        ) : search.grouped ? (
          <GroupedKeys
            search={search}
            frame={page?.frame}
            selection={may('configuration:manage') ? selection : undefined}
            onChange={onChange}
            onAction={onAction}
          />
        ) : (
          <KeyTable
            rows={page?.keys}
            query={keyQueryOf(search)}
            shown={columnsOf(search)}
            isDense={search.roomy !== true}
            isFetching={keys.isPlaceholderData}
            selection={may('configuration:manage') ? selection : undefined}
            onSort={(sort, order) => onChange({ sort, order })}
            onAction={onAction}
          />
        )}
      </Stack>
      {page && page.total > 0 && !search.grouped && (
        <Pager
          page={page.page}
          perPage={perPage}
          total={page.total}
          onPage={(next) => onChange({ page: next })}
        />
      )}
    </section>
  )
}

function OverviewHeader({ search }: { readonly search: OverviewSearch }) {
  const { t } = useTranslation()
  const { may } = useSession()
  const { page: _page, per_page: _perPage, ...filters } = keyQueryOf(search)
  return (
    <PageHeader
      title={t('nav.apiAccess')}
      about={t('overview.about')}
      actions={
        <>
          <CsvButton href={addressOf(keyRoutes.exportKeys, { query: filters })} name="keys.csv" />
          {may('configuration:manage') && <CreateButton />}
        </>
      }
    />
  )
}

function CreateButton() {
  const { t } = useTranslation()
  return (
    <Button
      component={Link}
      to="/settings/api-access/new"
      leftSection={<PlusIcon />}
      data-shortcut="c"
    >
      {t('overview.create')}
    </Button>
  )
}

function NoKeys() {
  const { t } = useTranslation()
  const { may } = useSession()
  return (
    <EmptyState
      icon={KeyIcon}
      title={t('overview.none')}
      about={t('overview.noneAbout')}
      actions={may('configuration:manage') && <CreateButton />}
    />
  )
}

function NoMatch({ search, onChange }: AddressProps<OverviewSearch>) {
  const { t } = useTranslation()
  const filters = FILTERS.filter((filter) => search[filter] !== undefined)
  // Every key is revoked, and the list hides revoked keys by default.
  if (filters.length === 0)
    return (
      <EmptyState
        icon={KeyIcon}
        title={t('overview.allRevoked')}
        about={t('overview.allRevokedAbout')}
        actions={
          <Button variant="default" onClick={() => onChange({ status: 'revoked' })}>
            {t('overview.showRevoked')}
          </Button>
        }
      />
    )
  return (
    <EmptyState
      icon={SearchIcon}
      title={t('overview.noMatch')}
      about={t('overview.noMatchAbout', {
        filters: filters.map((filter) => t(`filter.${filter}`)).join(', '),
      })}
      actions={
        <Button variant="default" onClick={() => onChange(noFilters)}>
          {t('overview.clearFilters')}
        </Button>
      }
    />
  )
}

type Concern = (typeof KEY_CONCERNS)[number]

type ConcernChipsProps = {
  /** Undefined until they are known. */
  readonly counts: KeyPage['counts'] | undefined
  readonly pressed: Concern | undefined
  readonly onPress: (concern: Concern | undefined) => void
}

/** Counts of the keys that need attention, by reason; pressing one filters the list. */
function ConcernChips({ counts, pressed, onPress }: ConcernChipsProps) {
  const { t, format } = useTranslation()
  return (
    <div className={styles['chips']} role="group" aria-label={t('overview.concerns')}>
      {KEY_CONCERNS.map((concern) => (
        <button
          key={concern}
          type="button"
          className={styles['chip']}
          data-concern={concern}
          data-count={counts?.[concern] ?? 0}
          aria-pressed={pressed === concern}
          onClick={() => onPress(pressed === concern ? undefined : concern)}
        >
          {t(`concern.${concern}`)}
          <strong>{counts ? format.number(counts[concern]) : '–'}</strong>
        </button>
      ))}
    </div>
  )
}
