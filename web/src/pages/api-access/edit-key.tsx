export function EditKeyPage() {
  return null
}
