// The mark: a toll bar, raised.
export function Mark() {
  return <img className="mark" src="/mark.svg" alt="" />
}
