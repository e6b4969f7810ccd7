import { serveRender } from './render-thread.ts'

await serveRender()
