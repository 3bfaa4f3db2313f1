// The filters of a list in one line above it; the download is at its end.
import type { ReactNode } from 'react'
import { CsvButton } from './csv-button.tsx'
import styles from './toolbar.module.css'

type ToolbarProps = {
  readonly children: ReactNode
  readonly csv?: { readonly href: string; readonly name: string }
}

export function Toolbar({ children, csv }: ToolbarProps) {
  return (
    <div className={styles['bar']} role="search">
      {children}
      {csv && <CsvButton className={styles['end']} {...csv} />}
    </div>
  )
}
