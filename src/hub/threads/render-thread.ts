/** The render thread: hostile or huge input slows down nobody else. */
import { renderBundle } from '../../render/render-bundle.ts'
import { serveThread } from './serve-thread.ts'

await serveThread<'render'>(async () => ({
  ready: undefined,
  answer: (input) => renderBundle(input),
  close: async () => {},
}))
