// The selected keys, and the actions on all of them.
import { Button } from '@mantine/core'
import { useState } from 'react'
import type { KeyRow } from '../../../../src/admin/contract/keys.ts'
import { useTranslation } from '../../i18n/i18n.ts'
import { dialogOnDemand } from '../../parts/on-demand.tsx'
import styles from './bulk-bar.module.css'
import { BULK_ACTIONS, type BulkAction } from './bulk-change.ts'

const BulkDialog = dialogOnDemand(async () => (await import('./bulk-dialog.tsx')).BulkDialog)

export function BulkBar({ selection }: { readonly selection: Selection }) {
  const { t } = useTranslation()
  const [action, setAction] = useState<BulkAction>()
  const count = selection.keys.length
  return (
    <>
      <span role="status" className="visually-hidden">
        {count > 0 ? t('bulk.selected', { count }) : ''}
      </span>
      {count > 0 && (
        <div className={styles['bar']} role="group" aria-label={t('bulk.label')}>
          <span className={styles['count']}>{t('bulk.selected', { count })}</span>
          <Button
            className={styles['clear']}
            size="compact-sm"
            variant="subtle"
            onClick={selection.clear}
          >
            {t('bulk.clear')}
          </Button>
          {BULK_ACTIONS.map((each) => (
            <Button
              key={each}
              size="compact-sm"
              variant={each === 'revoke' ? 'outline' : 'default'}
              color={each === 'revoke' ? 'red' : undefined}
              onClick={() => setAction(each)}
            >
              {t(`bulk.${each}.label`)}
            </Button>
          ))}
        </div>
      )}
      {action && (
        <BulkDialog
          action={action}
          keys={selection.keys}
          onClose={() => setAction(undefined)}
          onDone={selection.clear}
        />
      )}
    </>
  )
}

export type Selection = {
  readonly keys: readonly KeyRow[]
  readonly has: (id: string) => boolean
  readonly setMany: (keys: readonly KeyRow[], isTicked: boolean) => void
  readonly clear: () => void
}

type ShownKeys = {
  /** What the list is filtered by, as text. */
  readonly filter: string
  /** Undefined while they load. */
  readonly rows: readonly KeyRow[] | undefined
}

/**
 * The selected keys, including those on other pages of the list. A filter that hides a selected key takes it out of the
 * selection: nobody acts on what they do not see.
 */
export function useSelection({ filter, rows }: ShownKeys): Selection {
  const [ticked, setTicked] = useState<ReadonlyMap<string, KeyRow>>(new Map())
  const [judged, setJudged] = useState(filter)
  if (judged !== filter && rows !== undefined) {
    setJudged(filter)
    setTicked(new Map([...ticked].filter(([id]) => rows.some((row) => row.id === id))))
  }
  return {
    keys: [...ticked.values()],
    has: (id) => ticked.has(id),
    setMany: (keys, isTicked) => {
      const next = new Map(ticked)
      for (const key of keys)
        if (isTicked) next.set(key.id, key)
        else next.delete(key.id)
      setTicked(next)
    },
    clear: () => setTicked(new Map()),
  }
}
