import type { World } from '../sim/kernel/world.ts'

/** Does what a person would do, again until it is answered: in a simulation requests and answers are lost. */
export async function untilTaken(world: World, what: string, act: () => Promise<unknown>): Promise<void> {
  let isTaken = false
  let busy = false
  const attempt = () => {
    if (isTaken || busy) return isTaken
    busy = true
    act()
      .then(() => (isTaken = true))
      .catch(() => {}) // lost on the way; asked again
      .finally(() => (busy = false))
    return isTaken
  }
  await world.runUntil(attempt, { withinMs: 7_200_000, what })
}
