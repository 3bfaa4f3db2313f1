// The group of a key: which one, what is left of it, and what it leaves out of the key's models.
import { Box, Select } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { GroupAnswer } from '../../../../../src/admin/contract/groups.ts'
import { groupsQuery } from '../../../base/queries.ts'
import { useTranslation } from '../../../i18n/i18n.ts'
import { useField } from '../../../parts/form/checked-form.ts'
import { Notice } from '../../../parts/notices.tsx'
import type { KeyFormValues } from './form-values.ts'
import type { FieldsProps } from './use-key-form.ts'

/** All groups, and the one with this id. */
export function useGroups(id: string) {
  const groups = useQuery({ ...groupsQuery, refetchInterval: false })
  return { groups, chosen: groups.data?.find((group) => group.id === id) }
}

/** Not shown where there is nothing to choose from. */
export function GroupField({ form }: FieldsProps) {
  const { t } = useTranslation()
  const field = useField<KeyFormValues>(form)
  const { group: id } = form.values
  const { groups, chosen } = useGroups(id)
  const offered = (groups.data ?? []).filter(
    (group) => group.status === 'active' || group.id === id,
  )
  if (groups.isPending || (offered.length === 0 && !groups.isError)) return null
  return (
    <Select
      {...field('group')}
      searchable
      clearable
      clearButtonProps={{ 'aria-label': t('filter.clear', { filter: t('keyForm.field.group') }) }}
      placeholder={t('keyForm.noGroup')}
      description={chosen ? <LeftWords group={chosen} /> : t('keyForm.hint.group')}
      error={groups.isError ? t('groups.failed') : form.errors['group']}
      data={offered.map((group) => ({ value: group.id, label: group.name }))}
      value={id === '' ? null : id}
      onChange={(value) => form.setFieldValue('group', value ?? '')}
    />
  )
}

function LeftWords({ group }: { readonly group: GroupAnswer }) {
  const { t, format } = useTranslation()
  const left = [group.remaining, group.window?.remaining ?? null]
    .filter((amount) => amount !== null)
    .toSorted((one, other) => Number(one) - Number(other))[0]
  return left === undefined
    ? t('keyForm.hint.groupUnlimited')
    : t('keyForm.hint.groupLeft', { left: format.moneyLeft(left) })
}

/** What the group allows at most, and what of the chosen models that leaves out. */
export function CeilingNotice({ values }: { readonly values: KeyFormValues }) {
  const { t, format } = useTranslation()
  const { chosen } = useGroups(values.group)
  if (!chosen || chosen.models === null) return null
  const { name, models } = chosen
  const left = values.models.filter((model) => !models.includes(model))
  return (
    <Box mb="md">
      <Notice tone={left.length > 0 ? 'warn' : 'info'} title={t('keyForm.ceiling', { name })}>
        <div className="break">{format.list(models) || t('changes.nothing')}</div>
        {left.length > 0 && (
          <div className="break">
            {t('keyForm.leftOut', { count: left.length, models: format.list(left) })}
          </div>
        )}
      </Notice>
    </Box>
  )
}
