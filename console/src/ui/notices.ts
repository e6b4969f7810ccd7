/** Short messages about what was done; they outlive the part of the page that caused them. */
export interface Notice {
  readonly id: number
  readonly text: string
  readonly auditId: string | undefined
}

const SHOWN_MS = 12_000
const MAX_SHOWN = 3

let notices: readonly Notice[] = []
let last = 0
const listeners = new Set<() => void>()

function change(next: readonly Notice[]): void {
  notices = next
  for (const listener of listeners) listener()
}

export function subscribeNotices(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export function currentNotices(): readonly Notice[] {
  return notices
}

/** Shows a message for some seconds. */
export function notify(text: string, auditId?: string): void {
  last += 1
  const id = last
  change([...notices, { id, text, auditId }].slice(-MAX_SHOWN))
  setTimeout(() => dismiss(id), SHOWN_MS)
}

export function dismiss(id: number): void {
  change(notices.filter((notice) => notice.id !== id))
}
