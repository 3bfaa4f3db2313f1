// Placeholders of the final height while something loads, with a word for screen readers.
import { Skeleton, Stack } from '@mantine/core'
import { useTranslation } from '../i18n/use-translation.ts'

type LoadingProps = {
  /** The number of lines, and the height of each in pixels. */
  readonly lines?: number
  readonly height?: number
}

export function Loading({ lines = 3, height = 20 }: LoadingProps) {
  const { t } = useTranslation()
  return (
    <div aria-busy="true">
      <span role="status" className="visually-hidden">
        {t('loading')}
      </span>
      <Stack gap="sm" aria-hidden="true">
        {Array.from({ length: lines }, (_, index) => (
          <Skeleton key={index} height={height} radius="md" />
        ))}
      </Stack>
    </div>
  )
}
