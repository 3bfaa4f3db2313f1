// The layout of every page before sign-in: the logo, one card, and whether the gateway is running.
import { useDocumentTitle } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { fetchReadiness } from '../../base/api.ts'
import { useTranslation } from '../../i18n/i18n.ts'
import { Preferences } from '../../parts/preferences.tsx'
import styles from './entrance.module.css'

type EntranceProps = {
  readonly title: string
  readonly about?: ReactNode
  readonly children: ReactNode
}

export function Entrance({ title, about, children }: EntranceProps) {
  useDocumentTitle(`${title} · Tollgate`)
  return (
    <div className={styles['entrance']}>
      <header className={styles['bar']}>
        <Preferences />
      </header>
      <main className={styles['middle']}>
        <EntranceCard title={title} about={about}>
          {children}
        </EntranceCard>
      </main>
    </div>
  )
}

export function EntranceCard({ title, about, children }: EntranceProps) {
  return (
    <>
      <div className={styles['brand']}>
        <img src="/mark.svg" alt="" />
        Tollgate
      </div>
      <div className="card">
        <h1>{title}</h1>
        <p>{about}</p>
        {children}
      </div>
      <div className={styles['foot']}>
        <Readiness />
      </div>
    </>
  )
}

const pollMs = 3000

/** Polls the gateway's readiness every few seconds and shows it in words. */
function Readiness() {
  const { t } = useTranslation()
  const { data: state = 'unknown' } = useQuery({
    queryKey: ['readiness'],
    queryFn: fetchReadiness,
    refetchInterval: pollMs,
    networkMode: 'always',
  })
  return (
    <p className={styles['readiness']} data-state={state} role="status">
      {t(`readiness.${state}`)}
    </p>
  )
}
