// Placeholders of the final height while something loads, with a word for screen readers.
import { Skeleton, Stack } from '@mantine/core'
import { useTranslation } from '../i18n/use-translation.ts'

type LoadingProps = {
  /** The number of lines, and the height of each in pixels. */
  readonly lines?: number
  readonly height?: number
  /** Instead: the parts of a page below each other, each with its height in pixels. */
  readonly parts?: readonly number[]
}

export function Loading({ lines = 3, height = 20, parts }: LoadingProps) {
  const { t } = useTranslation()
  const heights = parts ?? Array.from({ length: lines }, () => height)
  return (
    <div aria-busy="true">
      <span role="status" className="visually-hidden">
        {t('loading')}
      </span>
      <Stack gap={parts ? 'lg' : 'sm'} aria-hidden="true">
        {heights.map((each, index) => (
          // The place is the identity of a placeholder.
          <Skeleton key={index} height={each} radius="md" />
        ))}
      </Stack>
    </div>
  )
}
