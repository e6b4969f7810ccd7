/**
 * The memory that bodies of requests may use at the same time, in total and for each caller. Without a budget, callers
 * that send large bodies slowly fill the memory of the server.
 */
export interface BodyBudget {
  /** Begins a body. */
  open(caller: string): OpenBody
}

export interface OpenBody {
  /** Adds bytes. False when the budget is used up; the bytes are not added. */
  add(bytes: number): boolean
  /** Gives all bytes of the body back. */
  close(): void
}

export interface BodyBudgetLimits {
  readonly totalBytes: number
  readonly bytesPerCaller: number
}

export function createBodyBudget({ totalBytes, bytesPerCaller }: BodyBudgetLimits): BodyBudget {
  const byCaller = new Map<string, number>()
  let total = 0
  return {
    open(caller) {
      let own = 0
      return {
        add(bytes) {
          const used = byCaller.get(caller) ?? 0
          if (total + bytes > totalBytes || used + bytes > bytesPerCaller) return false
          total += bytes
          own += bytes
          byCaller.set(caller, used + bytes)
          return true
        },
        close() {
          const left = (byCaller.get(caller) ?? 0) - own
          if (left > 0) byCaller.set(caller, left)
          else byCaller.delete(caller)
          total -= own
          own = 0
        },
      }
    },
  }
}
