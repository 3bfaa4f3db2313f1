// The layout of every page before sign-in: the logo, one card, and whether the gateway is running.
import { useEffect } from 'react'
import type { ReactNode } from 'react'
import { Readiness } from '../../parts/readiness.tsx'
import { Preferences } from '../../shell/preferences.tsx'
import styles from './entrance.module.css'

type EntranceProps = {
  readonly title: string
  readonly about?: ReactNode
  readonly children: ReactNode
}

export function Entrance({ title, about, children }: EntranceProps) {
  useEffect(() => {
    document.title = `${title} · Tollgate`
  }, [title])
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
