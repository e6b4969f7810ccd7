import { untilAnswered } from '../../sim/fleet/fleet.ts'
import type { World } from '../../sim/kernel/world.ts'

/** Does what a person would do, again until it is answered: in a simulation requests and answers are lost. */
export async function retryUntilAccepted(world: World, what: string, act: () => Promise<unknown>): Promise<void> {
  await untilAnswered(world, act, { withinMs: 7_200_000, what })
}
