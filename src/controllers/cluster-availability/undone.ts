/**
 * What this hub said of a cluster and another took back. Two hubs that both believe to lead may see different things, and each is sure;
 * without patience they would write against each other as fast as the API lets them.
 */

/** The last words about each cluster, for as long as they matter. */
export interface LastWords {
  /** How long to keep quiet, because these very words were written a moment ago and are not there any more; 0 when nobody undid them. */
  waitMs(cluster: string, words: string, nowMs: number): number
  /** They are about to be written. */
  say(cluster: string, words: string, nowMs: number): void
  /** They stand in the API. */
  stand(cluster: string, words: string): void
}

/** Keeps words for as long as they must not be repeated. */
export function createLastWords(patienceMs: number): LastWords {
  // In order of saying, so that what is old is in front.
  const said = new Map<string, { readonly words: string; readonly atMs: number; stood: boolean }>()

  function forgetBefore(ms: number): void {
    for (const [cluster, { atMs }] of said) {
      if (atMs > ms) return
      said.delete(cluster)
    }
  }

  return {
    waitMs: (cluster, words, nowMs) => {
      const last = said.get(cluster)
      // A write that was refused never stood: it is tried again at once.
      return last?.stood && last.words === words ? Math.max(0, last.atMs + patienceMs - nowMs) : 0
    },
    say: (cluster, words, nowMs) => {
      forgetBefore(nowMs - patienceMs)
      said.delete(cluster)
      said.set(cluster, { words, atMs: nowMs, stood: false })
    },
    stand: (cluster, words) => {
      const last = said.get(cluster)
      if (last?.words === words) last.stood = true
    },
  }
}
