// Package chunked decides who processes and keeps which sample where one storage read brings a chunk of several samples. It is pure.
//
// A chunk that is read for one sample brings the others for nothing. Those that are needed soonest are kept, as far as the buffers
// have room: riders. When room is short the sample gives way whose next use is farthest: Belady's rule (IBM Systems Journal 5, 1966), with the
// reads and not the samples being what it costs. A buffer that holds the share m of the set then covers, of chunks of c samples, about the
// next x*N/c uses after a read, x*x/(1+x) = 2mc, so that an epoch takes about c/(1+x) reads per chunk, where filling the memory anew
// block by block takes (1-(1-m)^c)/m: half as many when mc is large. That holds if the chunks are read at all times alike, and not all
// at once whenever the memory has run empty; so the first read of each covers a part of that time only, each another one.
//
// Who reads a chunk takes over what others hold of it for times at which they have more: so the nodes are kept even by reads that are
// made anyhow.
//
// Two things keep a sample out though there is room. A node never holds more samples for a step than it may process
// there. And a sample that is needed after a sibling that no buffer holds is not worth holding: the chunk is read for that sibling anyhow.
package chunked
