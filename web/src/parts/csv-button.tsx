// Downloads the contents of a list as CSV.
import { Button } from '@mantine/core'
import { useTranslation } from '../i18n/use-translation.ts'
import { DownloadIcon } from './icons.tsx'

type CsvButtonProps = {
  readonly href: string
  /** The file name. */
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
