// What narrows a list, in one line above it; the file to download stands at its end.
import { Button } from '@mantine/core'
import type { ReactNode } from 'react'
import { useTranslation } from '../i18n/use-translation.ts'
import { DownloadIcon } from './icons.tsx'
import styles from './toolbar.module.css'

type ToolbarProps = {
  readonly children: ReactNode
  readonly csv?: { readonly href: string; readonly name: string }
}

export function Toolbar({ children, csv }: ToolbarProps) {
  const { t } = useTranslation()
  return (
    <div className={styles['bar']} role="search">
      {children}
      {csv && (
        <Button
          className={styles['end']}
          component="a"
          href={csv.href}
          download={csv.name}
          variant="default"
          leftSection={<DownloadIcon />}
        >
          {t('overview.export')}
        </Button>
      )}
    </div>
  )
}
