// Tested by src/wire/evidence/verify-evidence.test.ts
/** Reports that an agent numbered and a file does not have. */

/** Ranges are limited: an agent's first number can be any. */
const MAX_RANGES = 100

/** A sentence for each range of absent numbers, by instance of an agent (`<cluster id> <instance>`). */
export function missingNumbers(sequences: ReadonlyMap<string, ReadonlySet<number>>): string[] {
  return [...sequences].flatMap(([name, numbers]) => {
    const instance = `agent instance ${name.split(' ')[1]}`
    const sorted = [...numbers].toSorted((a, b) => a - b)
    const [first] = sorted
    const ranges = sorted.flatMap((number, place) => {
      const before = sorted[place - 1]
      return before === undefined || number === before + 1
        ? []
        : [`${rangeText(before + 1, number - 1)} of ${instance}`]
    })
    const start = first === undefined || first === 1 ? [] : [`${rangeText(1, first - 1)} of ${instance}`]
    return [...start, ...ranges.slice(0, MAX_RANGES)]
  })
}

function rangeText(from: number, to: number): string {
  return from === to ? `report ${from}` : `reports ${from} to ${to}`
}
