/** A timer of the virtual clock. */
export interface Timer {
  readonly at: number
  readonly order: number
  readonly fire: () => void
  cancelled: boolean
}

/** Timers by time, then by insertion. */
export interface Timers {
  add(at: number, fire: () => void): Timer
  /** The earliest timer that is not cancelled. */
  peek(): Timer | undefined
  pop(): Timer | undefined
  cancel(timer: Timer): void
  size(): number
}

/** A binary heap; cancelled timers stay until they surface, or until they are the majority. */
export function createTimers(): Timers {
  let heap: Timer[] = []
  let inserted = 0
  let cancelled = 0

  const before = (a: Timer, b: Timer) => (a.at === b.at ? a.order < b.order : a.at < b.at)

  function up(start: number): void {
    for (let index = start; index > 0;) {
      const parent = (index - 1) >> 1
      if (!before(heap[index]!, heap[parent]!)) return
      swap(index, parent)
      index = parent
    }
  }

  function down(start: number): void {
    for (let index = start; ;) {
      const left = 2 * index + 1
      const right = left + 1
      let least = index
      if (left < heap.length && before(heap[left]!, heap[least]!)) least = left
      if (right < heap.length && before(heap[right]!, heap[least]!)) least = right
      if (least === index) return
      swap(index, least)
      index = least
    }
  }

  function swap(a: number, b: number): void {
    const timer = heap[a]!
    heap[a] = heap[b]!
    heap[b] = timer
  }

  function shift(): Timer | undefined {
    const first = heap[0]
    const last = heap.pop()
    if (first && last && heap.length > 0) {
      heap[0] = last
      down(0)
    }
    return first
  }

  function surface(): void {
    while (heap[0]?.cancelled) {
      shift()
      cancelled -= 1
    }
  }

  return {
    add: (at, fire) => {
      const timer: Timer = { at, order: inserted, fire, cancelled: false }
      inserted += 1
      heap.push(timer)
      up(heap.length - 1)
      return timer
    },
    peek: () => {
      surface()
      return heap[0]
    },
    pop: () => {
      surface()
      return shift()
    },
    cancel: (timer) => {
      if (timer.cancelled) return
      timer.cancelled = true
      cancelled += 1
      if (cancelled < 1000 || cancelled * 2 < heap.length) return
      heap = heap.filter((kept) => !kept.cancelled).sort((a, b) => (before(a, b) ? -1 : 1)) // sorted is a heap
      cancelled = 0
    },
    size: () => heap.length - cancelled,
  }
}
