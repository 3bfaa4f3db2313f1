export function NewKeyPage() {
  return null
}
