// The reader's own keys: what is left of each, code for it, and what its owner may do with it; and the groups in which
// they may have keys, with the rules there.
import { Button, Menu, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { memberRoutes } from '../../../../src/admin/contract/people.ts'
import type { OwnGroup, WishAnswer } from '../../../../src/admin/contract/people.ts'
import type { KeyRow } from '../../../../src/admin/contract/keys.ts'
import { call } from '../../base/api.ts'
import { every, keysQuery, liveMs } from '../../base/queries.ts'
import { useSession } from '../../base/session.ts'
import { useTranslation } from '../../i18n/i18n.ts'
import { ActionMenu, FactList, Moment } from '../../parts/cells.tsx'
import { KeyIcon, PlusIcon } from '../../parts/icons.tsx'
import { BudgetCell } from '../../parts/meters.tsx'
import { EmptyState, Loading, Notice, QueryError } from '../../parts/notices.tsx'
import { dialogOnDemand } from '../../parts/on-demand.tsx'
import { PageHeader } from '../../parts/page-header.tsx'
import { type KeyAction, KeyStatus, useResume } from '../keys/key-brief.tsx'
import { useKeyFacts } from '../keys/key-words.ts'
import { GroupRules } from './group-rules.tsx'
import cards from '../../parts/card-list.module.css'
import styles from './my-keys.module.css'
import { useLastWishes, WishNotice } from './wish-notice.tsx'

const NewOwnKeyDialog = dialogOnDemand(
  async () => (await import('./new-own-key.tsx')).NewOwnKeyDialog,
)
const AskDialog = dialogOnDemand(async () => (await import('./ask-dialog.tsx')).AskDialog)
const CodeDialog = dialogOnDemand(async () => (await import('./code-dialog.tsx')).CodeDialog)
const KeyDialogs = dialogOnDemand(async () => (await import('../keys/key-dialogs.tsx')).KeyDialogs)

type Open =
  | { readonly dialog: 'create' }
  | { readonly dialog: 'code' | 'ask'; readonly row: KeyRow }
  | { readonly dialog: KeyAction; readonly row: KeyRow }

/** Nobody has more of their own. */
const keysMax = 200

export function MyKeysPage() {
  const { t } = useTranslation()
  const { person, may } = useSession()
  const groups = useQuery({
    queryKey: ['groups', 'own'],
    queryFn: async ({ signal }) => (await call(memberRoutes.listOwnGroups, { signal })).groups,
    refetchInterval: every(liveMs),
  })
  const mine = { owner_person: person?.id ?? '', status: 'current' } as const
  const keys = useQuery({
    ...keysQuery({ ...mine, sort: 'name', order: 'asc', page: 1, per_page: keysMax }),
    enabled: may('configuration:read'),
  })
  const [open, setOpen] = useState<Open>()
  const offered = groups.data?.filter(hasRoom) ?? []
  const create = offered.length > 0 && (
    <Button
      leftSection={<PlusIcon />}
      data-shortcut="c"
      onClick={() => setOpen({ dialog: 'create' })}
    >
      {t('overview.create')}
    </Button>
  )
  return (
    <>
      <PageHeader
        title={t('nav.myKeys')}
        about={t('myKeys.about')}
        actions={keys.data?.total !== 0 && create}
      />
      <Stack gap="lg">
        <QueryError title={t('groups.failed')} query={groups} />
        <QueryError title={t('overview.failed')} query={keys} />
        {keys.isLoading && <Loading lines={2} height={150} />}
        {keys.data && keys.data.total > 0 && <KeyCards keys={keys.data.keys} onOpen={setOpen} />}
        {groups.data && (keys.data?.total === 0 || !may('configuration:read')) && (
          <EmptyState
            icon={KeyIcon}
            title={t(create ? 'overview.none' : 'myKeys.closed')}
            about={t(create ? 'myKeys.noneAbout' : 'myKeys.closedAbout')}
            actions={create}
          />
        )}
        {groups.data && groups.data.length > 0 && <GroupRules groups={groups.data} />}
      </Stack>
      {open && (
        <OpenDialog
          open={open}
          groups={offered}
          onOpen={setOpen}
          onClose={() => setOpen(undefined)}
        />
      )}
    </>
  )
}

/** Whether the reader may have a further key in it. */
function hasRoom({ may_create_keys: isOpen, own_keys: count, key_rules: rules }: OwnGroup) {
  return isOpen && count < (rules?.keys_max ?? Infinity)
}

type OpenDialogProps = {
  readonly open: Open
  readonly groups: readonly OwnGroup[]
  readonly onOpen: (open: Open) => void
  readonly onClose: () => void
}

function OpenDialog({ open, groups, onOpen, onClose }: OpenDialogProps) {
  if (open.dialog === 'create') return <NewOwnKeyDialog groups={groups} onClose={onClose} />
  const { dialog, row } = open
  if (dialog === 'ask') return <AskDialog row={row} onClose={onClose} />
  if (dialog === 'code') return <CodeDialog id={row.id} name={row.name} onClose={onClose} />
  return (
    <KeyDialogs
      action={dialog}
      keyInBrief={row}
      onAction={(next) => onOpen({ dialog: next, row })}
      onClose={onClose}
    />
  )
}

type KeyCardsProps = {
  readonly keys: readonly KeyRow[]
  readonly onOpen: (open: Open) => void
}

function KeyCards({ keys, onOpen }: KeyCardsProps) {
  const { t } = useTranslation()
  const wishes = useLastWishes(keys.length > 0)
  return (
    <ul className={cards['list']} aria-label={t('nav.myKeys')}>
      {keys.map((row) => (
        <li key={row.id} className="card">
          <KeyCard row={row} wish={wishes.get(row.id)} onOpen={onOpen} />
        </li>
      ))}
    </ul>
  )
}

type OwnKeyProps = { readonly row: KeyRow; readonly onOpen: (open: Open) => void }
type KeyCardProps = OwnKeyProps & { readonly wish: WishAnswer | undefined }

function KeyCard({ row, wish, onOpen }: KeyCardProps) {
  const { t, format } = useTranslation()
  const { mayWithin } = useSession()
  // Those who manage the group need not ask.
  const mayAsk = !mayWithin('configuration:manage', row.group?.id) && wish?.state !== 'open'
  const facts = useKeyFacts()(row)
  const { id, name, masked, expires_at: expiry, last_used_at: used } = row
  return (
    <>
      <div className={cards['head']}>
        <h2>
          <Link className="break" to="/settings/api-access/$id" params={{ id }}>
            {name}
          </Link>
        </h2>
        <KeyStatus keyInBrief={row} />
        <div className={styles['actions']}>
          <Button
            variant="default"
            size="compact-sm"
            onClick={() => onOpen({ dialog: 'code', row })}
          >
            {t('myKeys.code')}
          </Button>
          {mayAsk && (
            <Button
              variant="default"
              size="compact-sm"
              onClick={() => onOpen({ dialog: 'ask', row })}
            >
              {t('wishes.ask')}
            </Button>
          )}
          <OwnKeyMenu row={row} onOpen={onOpen} />
        </div>
      </div>
      <p className="sub break">
        <code>{masked}</code> · {facts}
      </p>
      {row.paused_by === 'manager' && <Notice tone="warn">{t('myKeys.pausedByManager')}</Notice>}
      {wish && <WishNotice wish={wish} />}
      <div className={styles['figures']}>
        <BudgetCell name={name} budget={row} />
        <FactList
          className={styles['facts']}
          facts={[
            [t('column.models'), format.number(row.model_count)],
            [t('column.last_used'), used ? <Moment at={used} /> : t('never')],
            [t('column.expires'), expiry ? <Moment at={expiry} /> : t('never')],
          ]}
        />
      </div>
    </>
  )
}

/** What an owner may do: whatever the role in the group is. */
function OwnKeyMenu({ row, onOpen }: OwnKeyProps) {
  const { t } = useTranslation()
  const resume = useResume()
  const { id, name, status, paused_by: pausedBy } = row
  const item = (dialog: KeyAction, word: string) => (
    <Menu.Item onClick={() => onOpen({ dialog, row })}>{word}</Menu.Item>
  )
  return (
    <ActionMenu name={name}>
      {item('test', t('action.test'))}
      {item('rotate', t('action.rotate'))}
      {status === 'active' && item('pause', t('action.pause'))}
      {pausedBy === 'owner' && (
        <Menu.Item onClick={() => resume.mutate({ id })}>{t('action.resume')}</Menu.Item>
      )}
      <Menu.Divider />
      <Menu.Item c="var(--tg-bad)" onClick={() => onOpen({ dialog: 'revoke', row })}>
        {t('action.revoke')}
      </Menu.Item>
    </ActionMenu>
  )
}
