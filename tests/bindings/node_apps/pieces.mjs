// The body of a response as a stream, which may fail on its way, or end too early, or wait until its reader has gone.
import { Readable } from "node:stream";

export function pieces(fail) {
    let number = 0;
    const stream = new Readable({
        read() {
            setTimeout(() => {
                if (++number < 3) stream.push(`piece ${number}\n`);
                else if (fail === "1") stream.destroy(new Error("PRIVATE stream"));
                else if (fail === "early") stream.destroy();
                else if (fail !== "never") stream.push(null);
            }, 5);
        },
    });
    return stream;
}
