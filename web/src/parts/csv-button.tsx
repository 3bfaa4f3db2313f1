// Downloads what a list shows, as a file for a spreadsheet.
import { Button } from '@mantine/core'
import { useTranslation } from '../i18n/use-translation.ts'
import { DownloadIcon } from './icons.tsx'

type CsvButtonProps = {
  readonly href: string
  /** Of the file. */
  readonly name: string
  readonly className?: string | undefined
}

export function CsvButton({ href, name, className }: CsvButtonProps) {
  const { t } = useTranslation()
  return (
    <Button
      className={className}
      component="a"
      href={href}
      download={name}
      variant="default"
      leftSection={<DownloadIcon />}
    >
      {t('overview.export')}
    </Button>
  )
}
